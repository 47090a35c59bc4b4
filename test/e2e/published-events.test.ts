/** Every event of our streams, held to both published descriptions of the API. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { schemaFaults } from '../support/openapi.ts'
import { readShared, sharedExists } from '../support/shared.ts'

const TURNS = {
  'thought, words and calls': '/think Hm.\n/say Hello there.\n/call f {"a": 1}\n/call g',
  'a refusal': '/refuse I would rather not.',
  'an answer cut short': '/say It is\n/finish length',
  'a failure in the middle': '/say Half\n/error It broke.',
}

/**
 * Where OpenAI's document says one thing and OpenAI's own streams do another: two fields without null
 * that are null on the wire, and a name that is never sent.
 */
const NOT_ON_THE_WIRE =
  /\.response\.(usage|user) is not \w+ but null|FunctionCallArgumentsDoneEvent has no name/

const DOCUMENTS = {
  openai: 'openapi/openai-responses-chat.json',
  'open-responses': 'openapi/open-responses-2026-04-24.json',
} as const

/** The name of an event's schema in a document, by its type. */
function eventNames(path: string): ReadonlyMap<string, string> {
  const document = JSON.parse(readShared(path).toString()) as {
    components: { schemas: Record<string, { properties?: { type?: { enum?: string[] } } }> }
  }
  return new Map(
    Object.entries(document.components.schemas)
      .filter(([name]) => name.endsWith('Event') && !/^Beta|WebSocket/.test(name))
      .map(([name, { properties }]) => [properties?.type?.enum?.[0] ?? '', name]),
  )
}

describe.skipIf(!sharedExists)('as published', () => {
  let gateway: Awaited<ReturnType<typeof startGateway>>
  beforeAll(async () => void (gateway = await startGateway()))
  afterAll(() => gateway.close())

  test.each(Object.entries(TURNS))('%s', async (_, input) => {
    const response = await gateway.post('/v1/responses', { model: 'demo', stream: true, input })
    const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'))
    expect(lines.length).toBeGreaterThan(5)
    for (const [document, path] of Object.entries(DOCUMENTS)) {
      const names = eventNames(path)
      for (const line of lines) {
        const event = JSON.parse(line.slice('data: '.length)) as Record<string, unknown>
        const name = names.get(String(event['type'])) ?? ''
        expect(name, `${document} knows ${String(event['type'])}`).not.toBe('')
        const faults = schemaFaults(document as keyof typeof DOCUMENTS, name, event)
        expect(
          faults.filter((fault) => !NOT_ON_THE_WIRE.test(fault)),
          line,
        ).toEqual([])
      }
    }
  })
})
