import { describe, expect, test } from 'vitest'
import { PROVIDERS } from '../../../src/providers/provider-registry.ts'
import { decodeAnswerBody } from '../../../src/gateway/send/decode-answer-body.ts'
import { runStage } from '../../../src/core/stream/stream-stage.ts'
import { findEventFaults } from '../../support/event-laws.ts'
import { NO_PARAMS } from '../../support/empty-parameters.ts'
import { chatStream, chatBody } from '../../support/answer-formats.ts'
import { NOT_JSON_FAILURE } from '../../../src/upstream/transport/read-complete-reply.ts'

const ANSWER = { text: 'It is 4 degrees.' }
const SENT_REQUEST = {
  provider: PROVIDERS.chat,
  account: {
    name: 'c',
    wire: 'chat' as const,
    baseUrl: '',
    apiKey: null,
    models: ['*'],
    headers: {},
    quirks: {},
  },
  prompt: {
    items: [],
    params: NO_PARAMS,
    stream: true,
    source: {
      dialect: 'chat' as const,
      body: {},
      bytes: () => new Uint8Array(0),
      items: [],
      params: NO_PARAMS,
    },
  },
}

function decodeInChunks(body: string, size = body.length) {
  const bytes = new TextEncoder().encode(body)
  const count = Math.ceil(bytes.length / size)
  const chunks = Array.from({ length: count }, (_, at) => bytes.slice(at * size, (at + 1) * size))
  return runStage(decodeAnswerBody(SENT_REQUEST), chunks)
}

function joinDeltas(events: ReturnType<typeof decodeInChunks>): string {
  return events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')
}

describe.each([
  ['a stream', chatStream(ANSWER).join('')],
  ['a JSON object', JSON.stringify(chatBody(ANSWER))],
  ['a JSON object after white space', `\n  ${JSON.stringify(chatBody(ANSWER))}`],
])('decoding %s', (_, body) => {
  test.each([1, 7, 100_000])("an upstream's body is decoded from chunks of %i bytes", (size) => {
    const events = decodeInChunks(body, size)
    expect(findEventFaults(events)).toEqual([])
    expect(joinDeltas(events)).toBe('It is 4 degrees.')
    expect(events.at(-1)).toMatchObject({ type: 'answer-ended', finish: 'stop' })
  })
})

test('a JSON object that is cut off is decoded as a failure', () => {
  const [started, failed] = decodeInChunks('{"choices":[')
  expect(started).toMatchObject({ type: 'answer-started' })
  expect(failed).toHaveProperty('failure.message', NOT_JSON_FAILURE.message)
})

test('an empty body is decoded as a failure', () => {
  expect(decodeInChunks('', 1)).toMatchObject([
    { type: 'answer-started' },
    { type: 'answer-failed' },
  ])
})
