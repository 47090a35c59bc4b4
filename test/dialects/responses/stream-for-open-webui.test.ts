/** Responses streams for Open WebUI: short lines, no fields of the request, and an end that it accepts. */
import { describe, expect, test } from 'vitest'
import { DEFAULT_CLIENT_TRAITS } from '../../../src/core/client/client-traits.ts'
import { createFailure } from '../../../src/core/errors/gateway-error.ts'
import type { Item } from '../../../src/core/item.ts'
import { isObject, type JsonObject } from '../../../src/core/json/json.ts'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import type { SseMessage } from '../../../src/core/stream/sse.ts'
import { responsesDialect } from '../../../src/dialects/responses/responses-dialect.ts'
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
const REQUEST: JsonObject = {
  model: 'm',
  input: 'hi',
  instructions: `Be brief. ${'x'.repeat(70_000)}`,
  tools: [{ type: 'function', name: 'look', parameters: {}, strict: false }],
  metadata: { a: 'b' },
}

function renderFor(events: readonly StreamEvent[], client: object = { isOpenWebUi: true }) {
  const context = answeringTo(REQUEST)
  const clientRequest = {
    ...context.clientRequest,
    client: { ...DEFAULT_CLIENT_TRAITS, ...client },
  }
  const renderer = responsesDialect.createRenderer({ ...context, clientRequest })
  const messages = events.flatMap((event) => [...renderer.push(event)])
  return [...messages, ...renderer.end(outcomeOf(events), ENDED_AT_MS)]
}

function itemEvents(...items: readonly Item[]): readonly StreamEvent[] {
  return items.flatMap((item, index): StreamEvent[] => [
    {
      type: 'item-started',
      index,
      item: item.type === 'message' ? { ...item, content: [] } : item,
    },
    { type: 'item-ended', index, item },
  ])
}

const assistant = (text: string): Item => ({
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

test('the response objects in a Responses stream for Open WebUI contain no fields of the request (C127)', () => {
  const messages = renderFor([STARTED, ...itemEvents(assistant('Hello')), ENDED])
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

test('a Responses stream for Open WebUI that was cut off ends with response.completed and the status incomplete', () => {
  const cut: StreamEvent = { type: 'answer-ended', finish: 'length', usage: USAGE }
  const messages = renderFor([STARTED, ...itemEvents(assistant('Hel')), cut])
  expect(typesOf(messages).at(-1)).toBe('response.completed')
  expect(lastResponse(messages)).toMatchObject({
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    output: [{ status: 'incomplete' }],
    usage: { total_tokens: 7 },
  })
})

test('Open WebUI is sent a failure in the format of a chat stream, and then as a response (C127)', () => {
  const failure = createFailure('upstream_broken', 'It broke.')
  const messages = renderFor([
    STARTED,
    ...itemEvents(assistant('Hel')),
    { type: 'answer-failed', failure },
  ])
  expect(events(messages).slice(-2)).toEqual([
    {
      error: { message: 'It broke.', type: 'server_error', param: null, code: 'upstream_broken' },
    },
    expect.objectContaining({ type: 'response.failed' }),
  ])
  expect(typesOf(messages)).not.toContain('error')
})

test('the last event of an empty answer to Open WebUI has no `output`, because an empty list would delete earlier text', () => {
  const messages = renderFor([STARTED, ENDED])
  expect(lastResponse(messages)).not.toHaveProperty('output')
})

describe('the line length of a Responses stream for Open WebUI', () => {
  const LONG = '"Grüße" '.repeat(20_000)

  test('no line of a Responses stream for Open WebUI is over 64 KiB if a long text comes in one delta', () => {
    const delta: StreamEvent = { type: 'text-delta', index: 0, part: 0, text: LONG }
    const [started, ended] = itemEvents(assistant(LONG))
    const messages = renderFor([STARTED, started ?? STARTED, delta, ended ?? ENDED, ENDED])
    for (const message of messages) expect(bytesOf(message)).toBeLessThan(64 * 1024)
    const deltas = events(messages).filter(({ type }) => type === 'response.output_text.delta')
    expect(deltas.map(({ delta }) => delta).join('')).toBe(LONG)
    // The output would be too long for a line, and the deltas have the same text.
    expect(lastResponse(messages)).not.toHaveProperty('output')
  })

  test('only the last event of a Responses stream for Open WebUI may be over 64 KiB, with an output of at most 100,000 bytes', () => {
    const text = 'x'.repeat(80_000)
    const messages = renderFor([STARTED, ...itemEvents(assistant(text)), ENDED])
    const long = messages.filter((message) => bytesOf(message) >= 64 * 1024)
    expect(typesOf([...long, { data: '' }])).toEqual(['response.completed'])
    expect(bytesOf(long[0] ?? { data: '' })).toBeLessThan(128 * 1024)
    expect(lastResponse(messages)).toMatchObject({ output: [{ content: [{ text }] }] })
  })

  test('no line of a Responses stream for Open WebUI is over 64 KiB if the tokens have log probabilities', () => {
    const text = '"Grüße" '.repeat(1250)
    const logprobs = Array.from({ length: 2000 }, () => ({ token: 'Grüße', logprob: -1 }))
    const delta: StreamEvent = { type: 'text-delta', index: 0, part: 0, text, logprobs }
    const [started, ended] = itemEvents(assistant(text))
    const messages = renderFor([STARTED, started ?? STARTED, delta, ended ?? ENDED, ENDED])
    for (const message of messages) expect(bytesOf(message)).toBeLessThan(64 * 1024)
    expect(events(messages)).toContainEqual(
      expect.objectContaining({ type: 'response.output_text.delta', delta: text, logprobs: [] }),
    )
  })

  test('no line of a Responses stream for Open WebUI is over 64 KiB if the output of a tool is long (C127)', () => {
    const call: Item = { type: 'function_call', call_id: 'c', name: 'search', arguments: '{}' }
    const output: Item = { type: 'function_call_output', call_id: 'c', output: LONG }
    const messages = renderFor([STARTED, ...itemEvents(call, output, assistant('So.')), ENDED])
    for (const message of messages) expect(bytesOf(message)).toBeLessThan(64 * 1024)
    const added = events(messages).filter(({ type }) => type === 'response.output_item.added')
    expect(added.map(({ output_index: index }) => index)).toEqual([0, 1, 2])
    const text = expect.stringMatching(/^"Grüße" .*…$/) as string
    expect(added[1]?.['item']).toMatchObject({
      call_id: 'c',
      output: [{ type: 'input_text', text }],
    })
  })

  test('no line of a Responses stream for Open WebUI is over 64 KiB if an item of an unknown type contains a large image', () => {
    const image = opaque({ type: 'image_generation_call', id: 'ig_1', result: LONG })
    const messages = renderFor([STARTED, ...itemEvents(image, assistant('There.')), ENDED])
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

test('tool outputs in a Responses stream for Open WebUI are always lists of parts (C127)', () => {
  const call: Item = { type: 'function_call', call_id: 'c', name: 'search', arguments: '{}' }
  const output: Item = { type: 'function_call_output', call_id: 'c', output: '4 degrees' }
  const messages = renderFor([STARTED, ...itemEvents(call, output), ENDED])
  const parts = [{ type: 'input_text', text: '4 degrees' }]
  for (const { item } of events(messages)) {
    if (isObject(item) && item['type'] === 'function_call_output') {
      expect(item['output']).toEqual(parts)
    }
  }
  expect(lastResponse(messages)['output']).toMatchObject([{}, { output: parts }])
})

test('for clients other than Open WebUI, the last event of a cut answer is response.incomplete, and repeats the metadata and tools of the request', () => {
  const cut: StreamEvent = { type: 'answer-ended', finish: 'length', usage: USAGE }
  const messages = renderFor([STARTED, ...itemEvents(assistant('Hel')), cut], {})
  expect(typesOf(messages).at(-1)).toBe('response.incomplete')
  expect(lastResponse(messages)).toMatchObject({ metadata: { a: 'b' }, tools: [{ name: 'look' }] })
})
