/**
 * Continued answers, with models that bind reasoning to its prefix and models that do not: every request
 * begins with the bytes of the request before, so no reasoning is rejected and the provider's cache stays
 * valid.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { DAMAGES } from '../../support/open-webui/damage-markers.ts'
import { startTestSetup, type TestSetup } from '../../support/open-webui/test-setup.ts'
import { objects } from '../../support/services/service.ts'
import { sampleCases } from '../../support/sample.ts'

let setup: TestSetup
/** Open WebUI 0.10 loses calls when it continues an answer without text on a Responses connection. */
let undoing: TestSetup
beforeAll(async () => {
  setup = await startTestSetup()
  undoing = await startTestSetup(undefined, { DELETIONS: 'undone' })
})
afterAll(() => Promise.all([setup.close(), undoing.close()]))

const MODELS = ['claude-opus-5', 'claude-opus-5-5', 'gpt-5', 'gpt-5.6']

test.concurrent.each(MODELS)(
  'each request to %s for a continued answer begins with the previous request',
  async (model) => {
    const session = setup.session({}, { model, system: 'You are a lighthouse.' })
    await session.ask('RTRT')
    await session.continueAnswer('RTC|RT')
    await session.continueAnswer('RT')
    await session.ask('RT')
    await session.continueAnswer('RTRT')
    await session.ask('RC|RT')
    expect(session.problems()).toEqual([])
    const sent = session.received.map(saidIn)
    expect(sent).toHaveLength(8)
    for (const [at, said] of sent.slice(1).entries()) {
      const before = sent[at] ?? []
      expect(said.slice(0, before.length)).toEqual(before)
    }
  },
)

const CONNECTIONS = [
  { connection: 'chat', version: '0.10' },
  { connection: 'responses', version: '0.10' },
  { connection: 'responses', version: '0.12' },
  { connection: 'stateful', version: '0.10' },
  { connection: 'stateful', version: '0.12' },
] as const
const WAYS = MODELS.flatMap((model) => CONNECTIONS.map((way) => ({ model, ...way })))

test.concurrent.each(sampleCases(WAYS, 3))(
  '$model over a $connection connection of $version recalls all items of an answer that was stopped and continued',
  async ({ model, ...way }) => {
    const session = setup.session(way, { model })
    await session.ask('RTR~T')
    await session.continueAnswer('~T')
    await session.ask('RC|R~T')
    await session.continueAnswer('RTR~T')
    await session.continueAnswer('RT')
    await session.ask('RT')
    expect(session.problems()).toEqual([])
  },
)

test.concurrent.each(sampleCases(WAYS, 3))(
  '$model over a $connection connection of $version recalls all items of an answer that was continued with tools',
  async ({ model, ...way }) => {
    const session = setup.session(way, { model })
    await session.ask('R~T')
    // Without markers or calls of its own, only its position identifies the turn.
    await session.continueAnswer('C|T')
    await session.ask('RT')
    await session.continueAnswer('RC|C|RT')
    await session.ask('RT')
    expect(session.problems()).toEqual([])
  },
)

test.concurrent.each(sampleCases(WAYS, 3))(
  '$model over a $connection connection of $version recalls all items of an answer that was edited and continued',
  async ({ model, ...way }) => {
    const session = setup.session(way, { model })
    await session.ask('RTC|RT')
    session.editAnswer((text) => `${text}\n\nAnd so on.`)
    await session.continueAnswer('C|T')
    await session.ask('RT')
    await session.ask('RT')
    expect(session.problems()).toEqual([])
  },
)

/**
 * Over a chat connection, an answer without text is found by its marker; an answer of text only is not
 * stored.
 */
test.concurrent.each(CONNECTIONS)(
  'continued text stays after the web search before it, over a $connection connection of $version',
  async (way) => {
    const losesCalls = way.version === '0.10' && way.connection !== 'chat'
    const session = (losesCalls ? undoing : setup).session(way)
    await session.ask('RC|RH')
    await session.continueAnswer('T')
    await session.ask('RTRH')
    await session.continueAnswer('T')
    await session.ask('RH~T')
    await session.ask('RT')
    await session.continueAnswer('RH')
    await session.continueAnswer('~T')
    await session.ask('RT')
    expect(session.problems()).toEqual([])
  },
)

test.concurrent.each(sampleCases(WAYS, 3))(
  '$model over a $connection connection of $version recalls an answer that was continued with reasoning alone',
  async ({ model, ...way }) => {
    const session = setup.session(way, { model })
    await session.ask('T')
    await session.continueAnswer('R')
    await session.ask('~T')
    await session.continueAnswer('R')
    await session.ask('RT')
    // Reasoning that led to nothing may be dropped with a note, but must not move.
    expect([...session.gaps, ...session.faults]).toEqual([])
  },
)

test.concurrent.each(CONNECTIONS)(
  'each web search of a continued answer stays between the texts around it, over a $connection connection of $version',
  async (way) => {
    const session = setup.session(way)
    await session.ask('RH')
    await session.continueAnswer('T')
    await session.continueAnswer('RH')
    await session.continueAnswer('T')
    await session.ask('RTRH')
    await session.continueAnswer('T')
    await session.continueAnswer('RH')
    await session.continueAnswer('T')
    await session.ask('RT')
    expect(session.problems()).toEqual([])
  },
)

test.concurrent.each(CONNECTIONS)(
  'a continuation stays after the text that it continues, over a $connection connection of $version',
  async (way) => {
    const session = setup.session(way)
    await session.ask('~T')
    await session.continueAnswer('RHRT')
    await session.ask('RT')
    expect(session.problems()).toEqual([])
  },
)

test.concurrent('adjacent reasoning items are sent to a chat upstream as one, without loss', async () => {
  const lost = { connection: 'stateful', inlet: DAMAGES['copied to the question'] } as const
  const session = undoing.session(lost, { model: 'glm-5', hasMarkers: false })
  await session.ask('RC|R')
  await session.continueAnswer('RT')
  await session.ask('RC|RT')
  expect([...session.gaps, ...session.faults]).toEqual([])
})

/** Lists the parts of a request with their roles. The position of cache marks does not matter. */
function saidIn({ messages, input }: JsonObject): readonly string[] {
  const pieces = objects(messages ?? input).flatMap((message) => {
    const { role, content } = message
    return input === undefined ? objects(content).map((block) => [role, block]) : [message]
  })
  return pieces.map((piece) =>
    JSON.stringify(piece, (name, value: unknown) => (name === 'cache_control' ? undefined : value)),
  )
}
