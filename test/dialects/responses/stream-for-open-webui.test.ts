/** A response as Open WebUI is told it: every line short, nothing echoed, and an end that it hears. */
import { describe, expect, test } from 'vitest'
import { DEFAULT_CLIENT_TRAITS } from '../../../src/core/client/client-traits.ts'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import type { Item } from '../../../src/core/item.ts'
import { isObject, type JsonObject } from '../../../src/core/json/json.ts'
import { responsesDialect } from '../../../src/dialects/responses/responses-dialect.ts'
import { createFailure } from '../../../src/core/errors/gateway-error.ts'
import type { SseMessage } from '../../../src/core/stream/stage.ts'
import { answeringTo, ENDED_AT_MS, jsonOf, outcomeOf } from '../../support/responses-kit.ts'

const USAGE = {
  inputTokens: 5,
  cachedTokens: null,
  cacheWriteTokens: null,
  outputTokens: 2,
  reasoningTokens: null,
  totalTokens: 7,
}
const STARTED: StreamEvent = { type: 'answer-started', upstreamId: null, model: 'made-by' }
const ENDED: StreamEvent = { type: 'answer-ended', finish: 'stop', usage: USAGE }
const ASKED: JsonObject = {
  model: 'm',
  input: 'hi',
  instructions: `Be brief. ${'x'.repeat(70_000)}`,
  tools: [{ type: 'function', name: 'look', parameters: {}, strict: false }],
  metadata: { a: 'b' },
}

function told(events: readonly StreamEvent[], client: object = { isOpenWebUi: true }) {
  const answering = answeringTo(ASKED)
  const clientRequest = {
    ...answering.clientRequest,
    client: { ...DEFAULT_CLIENT_TRAITS, ...client },
  }
  const renderer = responsesDialect.createRenderer({ ...answering, clientRequest })
  const messages = events.flatMap((event) => [...renderer.push(event)])
  return [...messages, ...renderer.end(outcomeOf(events), ENDED_AT_MS)]
}

function whole(...items: readonly Item[]): readonly StreamEvent[] {
  return items.flatMap((item, index): StreamEvent[] => [
    {
      type: 'item-started',
      index,
      item: item.type === 'message' ? { ...item, content: [] } : item,
    },
    { type: 'item-ended', index, item },
  ])
}

const said = (text: string): Item => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
})
const opaque = (raw: JsonObject): Item => ({ type: 'opaque', raw })

function bytesOf({ event, data }: SseMessage): number {
  return Buffer.byteLength(`event: ${event}\ndata: ${data}\n\n`)
}

const lastResponse = (messages: readonly SseMessage[]): JsonObject => {
  const { response } = jsonOf(messages.at(-2) ?? { data: '{}' })
  return isObject(response) ? response : {}
}
const events = (messages: readonly SseMessage[]) => messages.slice(0, -1).map(jsonOf)
const typesOf = (messages: readonly SseMessage[]) => events(messages).map(({ type }) => type)

test('says what became of it, and nothing of what was asked (C127)', () => {
  const messages = told([STARTED, ...whole(said('Hello')), ENDED])
  for (const { response } of events(messages)) {
    if (!isObject(response)) continue
    expect(Object.keys(response).toSorted()).toEqual(
      ['completed_at', 'created_at', 'error', 'id', 'incomplete_details', 'model', 'object']
        .concat(['output', 'status', 'usage'])
        .toSorted(),
    )
  }
  expect(lastResponse(messages)).toMatchObject({
    status: 'completed',
    output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hello' }] }],
    usage: { input_tokens: 5 },
  })
  expect(messages.at(-1)).toEqual({ data: '[DONE]' })
})

test('what was cut short ends as completed, with its items and its usage, and says so within', () => {
  const cut: StreamEvent = { type: 'answer-ended', finish: 'length', usage: USAGE }
  const messages = told([STARTED, ...whole(said('Hel')), cut])
  expect(typesOf(messages).at(-1)).toBe('response.completed')
  expect(lastResponse(messages)).toMatchObject({
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    output: [{ status: 'incomplete' }],
    usage: { total_tokens: 7 },
  })
})

test('a failure is told as in a chat, which is kept, and then as a response (C127)', () => {
  const failure = createFailure('upstream_broken', 'It broke.')
  const messages = told([STARTED, ...whole(said('Hel')), { type: 'answer-failed', failure }])
  expect(events(messages).slice(-2)).toEqual([
    {
      error: { message: 'It broke.', type: 'server_error', param: null, code: 'upstream_broken' },
    },
    expect.objectContaining({ type: 'response.failed' }),
  ])
  expect(typesOf(messages)).not.toContain('error')
})

test('an answer of nothing does not wipe out what stood there before', () => {
  const messages = told([STARTED, ENDED])
  expect(lastResponse(messages)).not.toHaveProperty('output')
})

describe('no line is long, though', () => {
  const LONG = '"Grüße" '.repeat(20_000)

  test('a text comes at once', () => {
    const delta: StreamEvent = { type: 'text-delta', index: 0, part: 0, text: LONG }
    const [began, ended] = whole(said(LONG))
    const messages = told([STARTED, began ?? STARTED, delta, ended ?? ENDED, ENDED])
    for (const message of messages) expect(bytesOf(message)).toBeLessThan(64 * 1024)
    const deltas = events(messages).filter(({ type }) => type === 'response.output_text.delta')
    expect(deltas.map(({ delta }) => delta).join('')).toBe(LONG)
    // It is longer than a line may be, and what was streamed says the same.
    expect(lastResponse(messages)).not.toHaveProperty('output')
  })

  test('an answer may be a little longer where it is all that is kept', () => {
    const text = 'x'.repeat(80_000)
    const messages = told([STARTED, ...whole(said(text)), ENDED])
    const long = messages.filter((message) => bytesOf(message) >= 64 * 1024)
    expect(typesOf([...long, { data: '' }])).toEqual(['response.completed'])
    expect(bytesOf(long[0] ?? { data: '' })).toBeLessThan(128 * 1024)
    expect(lastResponse(messages)).toMatchObject({ output: [{ content: [{ text }] }] })
  })

  test('its tokens come with their likelihood', () => {
    const text = '"Grüße" '.repeat(1250)
    const logprobs = Array.from({ length: 2000 }, () => ({ token: 'Grüße', logprob: -1 }))
    const delta: StreamEvent = { type: 'text-delta', index: 0, part: 0, text, logprobs }
    const [began, ended] = whole(said(text))
    const messages = told([STARTED, began ?? STARTED, delta, ended ?? ENDED, ENDED])
    for (const message of messages) expect(bytesOf(message)).toBeLessThan(64 * 1024)
    expect(events(messages)).toContainEqual(
      expect.objectContaining({ type: 'response.output_text.delta', delta: text, logprobs: [] }),
    )
  })

  test('a tool that the service ran itself gave back very much (C127)', () => {
    const call: Item = { type: 'function_call', call_id: 'c', name: 'search', arguments: '{}' }
    const output: Item = { type: 'function_call_output', call_id: 'c', output: LONG }
    const messages = told([STARTED, ...whole(call, output, said('So.')), ENDED])
    for (const message of messages) expect(bytesOf(message)).toBeLessThan(64 * 1024)
    const added = events(messages).filter(({ type }) => type === 'response.output_item.added')
    expect(added.map(({ output_index: index }) => index)).toEqual([0, 1, 2])
    const text = expect.stringMatching(/^"Grüße" .*…$/) as string
    expect(added[1]?.['item']).toMatchObject({
      call_id: 'c',
      output: [{ type: 'input_text', text }],
    })
  })

  test('an item that it does not know holds an image', () => {
    const image = opaque({ type: 'image_generation_call', id: 'ig_1', result: LONG })
    const messages = told([STARTED, ...whole(image, said('There.')), ENDED])
    for (const message of messages) expect(bytesOf(message)).toBeLessThan(64 * 1024)
    expect(events(messages)).toContainEqual(
      expect.objectContaining({
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'image_generation_call', id: 'ig_1' },
      }),
    )
  })
})

test('the output of a tool is a list of parts, wherever it is shown (C127)', () => {
  const call: Item = { type: 'function_call', call_id: 'c', name: 'search', arguments: '{}' }
  const output: Item = { type: 'function_call_output', call_id: 'c', output: '4 degrees' }
  const messages = told([STARTED, ...whole(call, output), ENDED])
  const parts = [{ type: 'input_text', text: '4 degrees' }]
  for (const { item } of events(messages)) {
    if (isObject(item) && item['type'] === 'function_call_output') {
      expect(item['output']).toEqual(parts)
    }
  }
  expect(lastResponse(messages)['output']).toMatchObject([{}, { output: parts }])
})

test('anybody else is told all of it', () => {
  const cut: StreamEvent = { type: 'answer-ended', finish: 'length', usage: USAGE }
  const messages = told([STARTED, ...whole(said('Hel')), cut], {})
  expect(typesOf(messages).at(-1)).toBe('response.incomplete')
  expect(lastResponse(messages)).toMatchObject({ metadata: { a: 'b' }, tools: [{ name: 'look' }] })
})
