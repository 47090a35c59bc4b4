/** What an answer is on the wire, and what becomes of it when nobody listens any more. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { objects } from '../../support/services/service.ts'
import { openChat } from '../../support/open-webui/chat.ts'
import { nextNumber, scriptOf, type ScriptBeat } from '../../support/open-webui/script.ts'
import { shownText } from '../../support/open-webui/stored-item.ts'
import { startTown, type Town } from '../../support/open-webui/town.ts'
import { markersIn } from '../../support/open-webui/watch.ts'

let town: Town
beforeAll(async () => void (town = await startTown('full', { HEARTBEAT_SECONDS: '1' })))
afterAll(() => town.close())

describe.concurrent.each(['gpt-5', 'claude-opus-5'])('%s', (model) => {
  test('what was sent before is sent again to the letter, and only added to', async () => {
    const story = town.story({}, { model, system: 'You are a lighthouse.' })
    await story.ask('RTCC|RC|RT')
    await story.ask('RTRT')
    await story.ask('RT', { image: 'data:image/png;base64,iVBORw0KGgo=' })
    await story.ask('T')
    await story.ask('RT')
    const sent = story.received.map(saidIn)
    expect(sent).toHaveLength(7)
    for (const [at, said] of sent.slice(1).entries()) {
      const before = sent[at] ?? []
      expect(said.slice(0, before.length)).toEqual(before)
    }
    expect(sent.join('\n')).not.toMatch(/\]: #/)
  })

  test('an answer with reasoning carries a marker, and one without carries none', async () => {
    const story = town.story({}, { model })
    const marked = await story.ask('RT')
    const plain = await story.ask('T')
    expect(markersIn(shownText(marked.node.items))).toHaveLength(1)
    expect(markersIn(shownText(plain.node.items))).toEqual([])
    expect(story.trouble()).toEqual([])
  })

  test('Stop ends the call to the upstream', async () => {
    const chat = openChat({ account: town.account(), model })
    const text = `Q${nextNumber()} how long?`
    const [planned] = scriptOf('R~T')
    town.upstream.plan(text, model, planned === undefined ? [] : [planned])
    const stop = async () => {
      await planned?.stalled.promise
      await pause(50)
    }
    await chat.ask(text, { stop })
    expect(planned?.received).not.toBeNull()
    await planned?.givenUp.promise
  })

  test.each(['chat', 'responses'] as const)(
    'long pieces come in lines that Open WebUI can read, %s (C127)',
    async (connection) => {
      const chat = openChat({ account: town.account({ connection }), model })
      const text = `Q${nextNumber()} at length?`
      const long = scriptOf('RT').map((planned) => ({
        ...planned,
        beats: planned.beats.map(
          (beat) => ({ ...beat, text: 'fog '.repeat(60_000) }) as ScriptBeat,
        ),
      }))
      town.upstream.plan(text, model, long)
      const { node, rounds } = await chat.ask(text)
      expect(node.error).toBeNull()
      expect(shownText(node.items)).toContain('fog '.repeat(60_000).trim())
      expect(rounds.flatMap(({ faults }) => faults)).toEqual([])
    },
  )
})

test.concurrent('silence is filled, so that nothing on the way takes the connection for dead', async () => {
  const chat = openChat({ account: town.account(), model: 'gpt-5' })
  const text = `Q${nextNumber()} silence?`
  const script = scriptOf('~RT')
  town.upstream.plan(text, 'gpt-5', script)
  const { rounds } = await chat.ask(text, { stop: () => pause(2500) })
  expect(rounds[0]?.lines.some((line) => line.startsWith(':'))).toBe(true)
  await script[0]?.givenUp.promise
})

test.concurrent('an error is JSON before the answer, and a chunk of its own in the middle of it (C127)', async () => {
  const story = town.story()
  const { node, rounds } = await story.ask('!')
  expect(node).toMatchObject({ items: [], error: 'Not today.' })
  expect(rounds[0]?.status).toBe(400)
  expect(story.trouble()).toEqual([])
})

function saidIn(body: JsonObject): readonly string[] {
  const said = objects(body['input'] ?? body['messages']).flatMap((item) =>
    Array.isArray(item['content']) && body['messages'] !== undefined
      ? objects(item['content']).map((block) => [item['role'], block])
      : [item],
  )
  return said.map((one) =>
    JSON.stringify(one, (name, value: unknown) => (name === 'cache_control' ? undefined : value)),
  )
}
