/** Chat streams for Open WebUI. */
import { describe, expect, test } from 'vitest'
import { DEFAULT_CLIENT_TRAITS } from '../../../src/core/client/client-traits.ts'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import type { Item } from '../../../src/core/item.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { chatDialect } from '../../../src/dialects/chat/chat-dialect.ts'
import type { AnswerContext } from '../../../src/core/ports/dialect-interface.ts'
import {
  createAnswerContext,
  call,
  foldOutcome,
  assistant,
  reasoning,
  answer,
  type Chunk,
} from './kit.ts'

function createOpenWebUiContext(body: JsonObject = {}): AnswerContext {
  const context = createAnswerContext(body)
  return {
    ...context,
    clientRequest: {
      ...context.clientRequest,
      client: { ...DEFAULT_CLIENT_TRAITS, isOpenWebUi: true },
    },
  }
}

function rendered(
  events: readonly StreamEvent[],
  body: JsonObject = {},
): readonly { readonly data: string }[] {
  const renderer = chatDialect.createRenderer(createOpenWebUiContext(body))
  const messages = events.flatMap((event) => [...renderer.push(event)])
  const all = [...messages, ...renderer.end(foldOutcome(events), 1_700_000_001_000)]
  for (const { data } of all) expect(Buffer.byteLength(data)).toBeLessThan(64 * 1024)
  return all
}

function chunks(events: readonly StreamEvent[], body: JsonObject = {}): readonly Chunk[] {
  return rendered(events, body)
    .slice(0, -1)
    .map(({ data }) => JSON.parse(data) as Chunk)
}

const isStatus = (chunk: Chunk): boolean => 'event' in chunk

const deltas = (events: readonly StreamEvent[]) =>
  chunks(events)
    .filter((chunk) => !isStatus(chunk))
    .flatMap(({ choices }) => choices.map(({ delta }) => delta))
    .slice(1, -1)

function withDetails(item: Item, ...details: readonly JsonObject[]): Item {
  return { ...item, native: { chat: { reasoning_details: details } } }
}
const DETAIL = { type: 'reasoning.encrypted', data: 'sealed', index: 0 }
const ONLY_DETAILS = withDetails({ type: 'reasoning', summary: [] }, DETAIL)

test.each([[{}], [{ stream_options: { include_usage: true } }], [{ stream_options: {} }]])(
  'a chat stream to Open WebUI ends with one chunk with the usage and without choices if the request has %j',
  (body) => {
    const all = chunks(answer(assistant('a')), body)
    expect(all.filter(({ usage }) => usage !== undefined && usage !== null)).toEqual([all.at(-1)])
    expect(all.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 7 } })
  },
)

test('a chat stream to Open WebUI has no usage if the upstream reports none', () => {
  const ended: StreamEvent = { type: 'answer-ended', finish: 'stop', usage: null }
  const all = chunks([...answer(assistant('a')).slice(0, -1), ended])
  expect(all.at(-1)?.choices).toHaveLength(1)
})

test('a chat stream to Open WebUI contains the reasoning details after the reasoning text', () => {
  expect(deltas(answer(withDetails(reasoning('Hm'), DETAIL), assistant('So')))).toEqual([
    { reasoning_content: 'Hm' },
    { reasoning_details: [DETAIL] },
    { content: 'So' },
  ])
})

test('a chat stream to Open WebUI contains no reasoning details before any reasoning text, and none at all without such text', () => {
  expect(deltas(answer(ONLY_DETAILS, assistant('So')))).toEqual([{ content: 'So' }])
  const delayed = deltas(
    answer(ONLY_DETAILS, assistant('So'), withDetails(reasoning('Hm'), DETAIL)),
  )
  expect(delayed).toEqual([
    { content: 'So' },
    { reasoning_content: 'Hm' },
    { reasoning_details: [DETAIL, DETAIL] },
  ])
})

test('an object that is too long for a line of a stream to Open WebUI is dropped, and the answer continues (C127)', () => {
  const huge = withDetails(reasoning('Hm'), { ...DETAIL, data: 'x'.repeat(70_000) })
  const image: Item = {
    type: 'message',
    role: 'assistant',
    content: [
      { type: 'output_text', text: 'Look' },
      { type: 'input_image', image_url: `data:image/png;base64,${'A'.repeat(70_000)}` },
    ],
  }
  expect(deltas(answer(huge, image))).toEqual([{ reasoning_content: 'Hm' }, { content: 'Look' }])
})

describe('generated images for Open WebUI', () => {
  const createImage = (chars: number): Item => ({
    type: 'opaque',
    raw: { type: 'image_generation_call', result: 'A'.repeat(chars), output_format: 'webp' },
  })
  const maxChars = (() => {
    const line = rendered(answer(createImage(1000))).find(({ data }) => data.includes('image_url'))
    return 64_000 - (line?.data.length ?? 0) + 1000
  })()

  test('a generated image is sent to Open WebUI if its line is not too long', () => {
    const url = `data:image/webp;base64,${'A'.repeat(maxChars)}`
    expect(deltas(answer(assistant('So'), createImage(maxChars)))).toEqual([
      { content: 'So' },
      { images: [{ type: 'image_url', image_url: { url } }] },
    ])
  })

  test('a generated image is replaced with a status message for Open WebUI if its line is too long', () => {
    expect(deltas(answer(createImage(maxChars + 1), assistant('So')))).toEqual([{ content: 'So' }])
    const statuses = chunks(answer(createImage(maxChars + 1), assistant('So'))).filter(isStatus)
    const description = expect.stringMatching(/not shown.* 48 KB /) as string
    expect(statuses).toEqual([{ event: { type: 'status', data: { description, done: true } } }])
  })
})

test('no chat chunk has a field that Open WebUI reserves for its own server (C127)', () => {
  for (const chunk of chunks(answer(reasoning('Hm'), assistant('So'), call('x')))) {
    expect(Object.keys(chunk)).not.toContain('event')
    expect(Object.keys(chunk)).not.toContain('sources')
    expect(Object.keys(chunk)).not.toContain('selected_model_id')
    expect(Object.keys(chunk)).not.toContain('type')
  }
})

test('<think> tags in the text of an answer are sent to Open WebUI unchanged', () => {
  const text = 'Write `<think>` and `</think>`.'
  expect(deltas(answer(assistant(text)))).toEqual([{ content: text }])
})

test('a non-streamed answer to Open WebUI has reasoning details only together with reasoning text', () => {
  const message = (...items: readonly Item[]) => {
    const body = chatDialect.renderBody(
      foldOutcome(answer(...items)),
      createOpenWebUiContext(),
    ) as unknown as {
      choices: [{ message: JsonObject }]
      usage: JsonObject
    }
    expect(body.usage).toMatchObject({ total_tokens: 7 })
    return body.choices[0].message
  }
  expect(message(ONLY_DETAILS, assistant('So'))).not.toHaveProperty('reasoning_details')
  expect(message(withDetails(reasoning('Hm'), DETAIL), assistant('So'))).toMatchObject({
    reasoning_content: 'Hm',
    reasoning_details: [DETAIL],
  })
})
