/**
 * No request is executed twice: the next upstream of a model's list gets a request only if the one before certainly did
 * not answer it. Also: an answer that has arrived completely is not lost when its connection ends.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { makeStoreFail, NO_FAULTS } from '../support/failing-store.ts'
import { startGateway } from '../support/gateway.ts'
import { answerWith, chatBody, responsesBody } from '../support/answer-formats.ts'
import {
  greetingRequest,
  PATHS,
  readClientAnswer,
  type Dialect,
} from '../support/read-client-answer.ts'
import { STREAM_FAULTS } from '../support/stream-faults.ts'
import {
  answerJson,
  answerSse,
  startUpstream,
  type Behaviour,
  type Upstream,
} from '../support/upstream.ts'

const WIRES = ['responses', 'chat', 'anthropic', 'gemini'] as const
const DIALECTS: readonly Dialect[] = ['responses', 'chat']
const ANSWER = 'From the second.'

let first: Upstream
let second: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  first = await startUpstream()
  second = await startUpstream(answerWith({ text: ANSWER }))
  gateway = await startGateway({
    UPSTREAM_HEADERS_TIMEOUT_SECONDS: '1',
    UPSTREAM_IDLE_TIMEOUT_SECONDS: '1',
    MODELS: JSON.stringify(
      Object.fromEntries(WIRES.map((wire) => [`best-${wire}`, [`${wire}/big`, 'two/small']])),
    ),
    UPSTREAMS: JSON.stringify([
      ...WIRES.map((wire) => ({ name: wire, wire, baseUrl: first.url, models: ['big'] })),
      { name: 'two', wire: 'chat', baseUrl: second.url, models: ['small'] },
    ]),
  })
})
afterAll(async () => {
  await gateway.close()
  await first.close()
  await second.close()
})
beforeEach(() => {
  first.received.splice(0)
  second.received.splice(0)
})

async function ask(dialect: Dialect, model: string, stream: boolean, more = {}) {
  const body = { ...greetingRequest(dialect, model, stream), ...more }
  const response = await gateway.post(PATHS[dialect], body)
  const { text, failure } = await readClientAnswer(dialect, response.clone())
  const [, jsonText = ''] = /"(?:text|content)":"(From[^"]+)"/.exec(await response.text()) ?? []
  return { status: response.status, text: stream ? text : jsonText, failure }
}

const countRequests = () => [first.received.length, second.received.length]

const CONTENTLESS_STREAMS = STREAM_FAULTS.filter(({ said }) => said?.source === '^$')

const page = '<!doctype html><title>Sign in</title>'
const CONTENTLESS_BODIES: readonly (readonly [string, Behaviour])[] = [
  ['a web page', answerJson(200, page, { 'content-type': 'text/html' })],
  ['nothing', answerJson(200, '')],
  ['an error', answerJson(200, { error: { message: 'On fire.', type: 'server_error' } })],
  ['half of a JSON object', answerJson(200, '{"id":"x","choices":[{"mess')],
]

describe.each(WIRES)('an answer without content, with status 200, over the wire %s', (wire) => {
  test.each(CONTENTLESS_STREAMS)(
    'the next upstream gets the request if the stream has $name',
    async ({ frames }) => {
      first.behave = answerSse(frames([], wire))
      for (const dialect of DIALECTS) {
        const answer = await ask(dialect, `best-${wire}`, true)
        expect(answer).toEqual({ status: 200, text: ANSWER, failure: null })
      }
      expect(countRequests()).toEqual([2, 2])
    },
  )

  test.each(CONTENTLESS_BODIES)(
    'the next upstream gets the request if the body is %s',
    async (_, behave) => {
      first.behave = behave
      for (const dialect of DIALECTS) {
        for (const stream of [true, false]) {
          const answer = await ask(dialect, `best-${wire}`, stream)
          expect(answer).toEqual({ status: 200, text: ANSWER, failure: null })
        }
      }
      expect(countRequests()).toEqual([4, 4])
    },
  )
})

test('the next upstream gets the request if an upstream sends headers and then nothing', async () => {
  first.behave = answerSse([], 'hang')
  const answers = await Promise.all([
    ask('responses', 'best-responses', true),
    ask('chat', 'best-chat', false),
  ])
  expect(answers.map(({ text }) => text)).toEqual([ANSWER, ANSWER])
  expect(countRequests()).toEqual([2, 2])
})

test('an answer of an upstream with a fallback arrives completely, streamed and not streamed', async () => {
  first.behave = answerWith({ reasoning: 'Hm.', text: 'From the first.' })
  for (const wire of ['responses', 'chat'] as const) {
    for (const stream of [true, false]) {
      const answer = await ask(wire, `best-${wire}`, stream)
      expect(answer).toEqual({ status: 200, text: 'From the first.', failure: null })
    }
  }
  expect(countRequests()).toEqual([4, 0])
})

/** Faults after which the upstream may have processed the request. */
const MAYBE_PROCESSED_FAULTS: readonly (readonly [string, number, Behaviour])[] = [
  ['breaks the connection', 502, (response) => void response.destroy()],
  ['sends an unrequested 100', 502, (response) => response.writeContinue()],
  ['sends no headers in time', 504, () => undefined],
  ['answers with status 504 of a proxy', 504, answerJson(504, page)],
]

test.each(MAYBE_PROCESSED_FAULTS)(
  'a request is not sent again if its upstream %s',
  async (_, status, behave) => {
    first.behave = behave
    const answers = await Promise.all([
      ask('responses', 'best-responses', true),
      ask('chat', 'best-chat', false),
    ])
    for (const answer of answers) {
      expect(answer).toMatchObject({ status, text: '' })
      expect(answer.failure).toMatch(/\w/)
    }
    expect(countRequests()).toEqual([2, 0])
    expect(gateway.log.at(-1)).toMatchObject({ event: 'upstream-failed' })
  },
)

test('a request is not sent again if its connection breaks after status 200, before its answer has content', async () => {
  first.behave = answerSse([], 'reset', 5)
  const answers = await Promise.all([
    ask('responses', 'best-responses', true),
    ask('chat', 'best-chat', false),
  ])
  const failure = 'The connection to the upstream broke in the middle of its answer.'
  expect(answers).toEqual([
    { status: 200, text: '', failure },
    { status: 502, text: '', failure },
  ])
  expect(countRequests()).toEqual([2, 0])
})

test.each(DIALECTS)(
  'a complete answer is not lost if its connection ends before its turn is opened (%s)',
  async (dialect) => {
    const store = makeStoreFail(gateway.dependencies)
    store.faultRule = (verb) => (verb === 'openTurn' ? 100 : 'none')
    const content = { text: 'From the first.' }
    const body = JSON.stringify(dialect === 'chat' ? chatBody(content) : responsesBody(content))
    first.behave = (response) =>
      void response.socket?.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    const answer = await ask(dialect, `${dialect}/big`, false, { store: true })
    store.faultRule = NO_FAULTS
    expect(answer).toEqual({ status: 200, text: 'From the first.', failure: null })
  },
)
