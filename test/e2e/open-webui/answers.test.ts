/** Answers on the connection to Open WebUI: markers, long lines, errors, Stop and silence. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { objects } from '../../support/services/service.ts'
import { openChat } from '../../support/open-webui/chat.ts'
import { nextNumber, parseScript, type ScriptPart } from '../../support/open-webui/script.ts'
import { shownText } from '../../support/open-webui/stored-item.ts'
import { startTestSetup, type TestSetup } from '../../support/open-webui/test-setup.ts'

let setup: TestSetup
beforeAll(async () => void (setup = await startTestSetup('full', { HEARTBEAT_SECONDS: '1' })))
afterAll(() => setup.close())

describe.concurrent.each(['gpt-5', 'claude-opus-5'])('answers of %s to Open WebUI', (model) => {
  test('each prompt of an Open WebUI chat repeats the earlier one byte for byte and only appends to it', async () => {
    const session = setup.session({}, { model, system: 'You are a lighthouse.' })
    await session.ask('RTCC|RC|RT')
    await session.ask('RTRT')
    await session.ask('RT', { image: 'data:image/png;base64,iVBORw0KGgo=' })
    await session.ask('T')
    await session.ask('RT')
    const sent = session.received.map(saidIn)
    expect(sent).toHaveLength(7)
    for (const [at, said] of sent.slice(1).entries()) {
      const before = sent[at] ?? []
      expect(said.slice(0, before.length)).toEqual(before)
    }
    expect(sent.join('\n')).not.toMatch(/\]: #/)
  })

  test('the Stop button of Open WebUI cancels the upstream request', async () => {
    const chat = openChat({ account: setup.account(), model })
    const text = `Q${nextNumber()} how long?`
    const [planned] = parseScript('R~T')
    setup.upstream.plan(text, model, planned === undefined ? [] : [planned])
    const stop = async () => {
      await planned?.stalled.promise
      await pause(50)
    }
    await chat.ask(text, { stop })
    expect(planned?.received).not.toBeNull()
    await planned?.givenUp.promise
  })

  test.each(['chat', 'responses'] as const)(
    'the %s dialect splits long texts into lines that Open WebUI can read (C127)',
    async (connection) => {
      const chat = openChat({ account: setup.account({ connection }), model })
      const text = `Q${nextNumber()} at length?`
      const long = parseScript('RT').map((planned) => ({
        ...planned,
        parts: planned.parts.map(
          (part) => ({ ...part, text: 'fog '.repeat(60_000) }) as ScriptPart,
        ),
      }))
      setup.upstream.plan(text, model, long)
      const { node, rounds } = await chat.ask(text)
      expect(node.error).toBeNull()
      expect(shownText(node.items)).toContain('fog '.repeat(60_000).trim())
      expect(rounds.flatMap(({ faults }) => faults)).toEqual([])
    },
  )
})

test.concurrent('Open WebUI is sent comments while the upstream is silent, so that no proxy closes the connection', async () => {
  const chat = openChat({ account: setup.account(), model: 'gpt-5' })
  const text = `Q${nextNumber()} silence?`
  const script = parseScript('~RT')
  setup.upstream.plan(text, 'gpt-5', script)
  const { rounds } = await chat.ask(text, { stop: () => pause(2500) })
  expect(rounds[0]?.lines.some((line) => line.startsWith(':'))).toBe(true)
  await script[0]?.givenUp.promise
})

test.concurrent('Open WebUI gets an error as JSON before the answer, and as a chunk in the middle of it (C127)', async () => {
  const session = setup.session()
  const { node, rounds } = await session.ask('!')
  expect(node).toMatchObject({ items: [], error: 'upstream openai: Not today.' })
  expect(rounds[0]?.status).toBe(400)
  expect(session.problems()).toEqual([])
})

function saidIn(body: JsonObject): readonly string[] {
  const reply = objects(body['input'] ?? body['messages']).flatMap((item) =>
    Array.isArray(item['content']) && body['messages'] !== undefined
      ? objects(item['content']).map((block) => [item['role'], block])
      : [item],
  )
  return reply.map((one) =>
    JSON.stringify(one, (name, value: unknown) => (name === 'cache_control' ? undefined : value)),
  )
}
