/** Checks every event of the gateway's streams against both published schemas of the Responses API. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { schemaFaults } from '../support/openapi.ts'
import { readShared, sharedExists } from '../support/shared-files.ts'

const TURNS = {
  'an answer with reasoning, text and calls':
    '/think Hm.\n/say Hello there.\n/call f {"a": 1}\n/call g',
  'a refusal': '/refuse I would rather not.',
  'an answer that is cut off': '/say It is\n/finish length',
  'an answer that fails in the middle': '/say Half\n/error It broke.',
}

/**
 * Differences between OpenAI's document and its own streams: two fields that are null on the wire, and a
 * required name that is never sent.
 */
const NOT_ON_THE_WIRE =
  /\.response\.(usage|user) is not \w+ but null|FunctionCallArgumentsDoneEvent has no name/

const DOCUMENTS = {
  openai: 'openapi/openai-responses-chat.json',
  'open-responses': 'openapi/open-responses-2026-04-24.json',
} as const

/** Maps event types to the names of their schemas in a document. */
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

describe.skipIf(!sharedExists)('published schemas of streamed events', () => {
  let gateway: Awaited<ReturnType<typeof startGateway>>
  beforeAll(async () => void (gateway = await startGateway()))
  afterAll(() => gateway.close())

  test.each(Object.entries(TURNS))('events of %s match the published schemas', async (_, input) => {
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
