import { describe, expect, test } from 'vitest'
import { PROVIDERS } from '../../../src/providers/registry.ts'
import { decodeAnswerBody } from '../../../src/gateway/send/decode-answer-body.ts'
import { runStage } from '../../../src/core/stream/stage.ts'
import { eventFaults } from '../../support/event-laws.ts'
import { NO_PARAMS } from '../../support/empty-parameters.ts'
import { chatStream, chatBody } from '../../support/answer-formats.ts'
import { NOT_JSON_FAILURE } from '../../../src/upstream/transport/read-body.ts'

const SAID = { text: 'It is 4 degrees.' }
const ASKED = {
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

function read(body: string, size = body.length) {
  const bytes = new TextEncoder().encode(body)
  const count = Math.ceil(bytes.length / size)
  const chunks = Array.from({ length: count }, (_, at) => bytes.slice(at * size, (at + 1) * size))
  return runStage(decodeAnswerBody(ASKED), chunks)
}

function textIn(events: ReturnType<typeof read>): string {
  return events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')
}

describe.each([
  ['a stream', chatStream(SAID).join('')],
  ['one object', JSON.stringify(chatBody(SAID))],
  ['one object behind white space', `\n  ${JSON.stringify(chatBody(SAID))}`],
])('%s', (_, body) => {
  test.each([1, 7, 100_000])('is read in pieces of %i bytes', (size) => {
    const events = read(body, size)
    expect(eventFaults(events)).toEqual([])
    expect(textIn(events)).toBe('It is 4 degrees.')
    expect(events.at(-1)).toMatchObject({ type: 'answer-ended', finish: 'stop' })
  })
})

test('an object that is cut off cannot be read', () => {
  const [started, failed] = read('{"choices":[')
  expect(started).toMatchObject({ type: 'answer-started' })
  expect(failed).toHaveProperty('failure.message', NOT_JSON_FAILURE.message)
})

test('nothing at all is a failure', () => {
  expect(read('', 1)).toMatchObject([{ type: 'answer-started' }, { type: 'answer-failed' }])
})
