/** An answer as chat chunks for Open WebUI. */
import { describe, expect, test } from 'vitest'
import { DEFAULT_CLIENT_TRAITS } from '../../../src/core/client/client-traits.ts'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import type { Item } from '../../../src/core/item.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { chatDialect } from '../../../src/dialects/chat/chat-dialect.ts'
import type { AnswerContext } from '../../../src/core/ports/dialect-interface.ts'
import { answering, call, outcomeOf, said, summary, tell, type Chunk } from './kit.ts'

function forOpenWebUi(body: JsonObject = {}): AnswerContext {
  const own = answering(body)
  return {
    ...own,
    clientRequest: {
      ...own.clientRequest,
      client: { ...DEFAULT_CLIENT_TRAITS, isOpenWebUi: true },
    },
  }
}

function rendered(
  events: readonly StreamEvent[],
  body: JsonObject = {},
): readonly { readonly data: string }[] {
  const renderer = chatDialect.createRenderer(forOpenWebUi(body))
  const messages = events.flatMap((event) => [...renderer.push(event)])
  const all = [...messages, ...renderer.end(outcomeOf(events), 1_700_000_001_000)]
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
const SEALED = withDetails({ type: 'reasoning', summary: [] }, DETAIL)

test.each([[{}], [{ stream_options: { include_usage: true } }], [{ stream_options: {} }]])(
  'the usage is told once, at the end and without choices, asked with %j or not',
  (body) => {
    const all = chunks(tell(said('a')), body)
    expect(all.filter(({ usage }) => usage !== undefined && usage !== null)).toEqual([all.at(-1)])
    expect(all.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 7 } })
  },
)

test('an answer without a usage has none', () => {
  const ended: StreamEvent = { type: 'answer-ended', finish: 'stop', usage: null }
  const all = chunks([...tell(said('a')).slice(0, -1), ended])
  expect(all.at(-1)?.choices).toHaveLength(1)
})

test('reasoning details come behind reasoning that is shown', () => {
  expect(deltas(tell(withDetails(summary('Hm'), DETAIL), said('So')))).toEqual([
    { reasoning_content: 'Hm' },
    { reasoning_details: [DETAIL] },
    { content: 'So' },
  ])
})

test('details alone wait for reasoning that is shown, and are left out if there is none', () => {
  expect(deltas(tell(SEALED, said('So')))).toEqual([{ content: 'So' }])
  const told = deltas(tell(SEALED, said('So'), withDetails(summary('Hm'), DETAIL)))
  expect(told).toEqual([
    { content: 'So' },
    { reasoning_content: 'Hm' },
    { reasoning_details: [DETAIL, DETAIL] },
  ])
})

test('what is too long for a line by itself is left out, and the answer goes on (C127)', () => {
  const huge = withDetails(summary('Hm'), { ...DETAIL, data: 'x'.repeat(70_000) })
  const image: Item = {
    type: 'message',
    role: 'assistant',
    content: [
      { type: 'output_text', text: 'Look' },
      { type: 'input_image', image_url: `data:image/png;base64,${'A'.repeat(70_000)}` },
    ],
  }
  expect(deltas(tell(huge, image))).toEqual([{ reasoning_content: 'Hm' }, { content: 'Look' }])
})

describe('an image that a model made', () => {
  const made = (chars: number): Item => ({
    type: 'opaque',
    raw: { type: 'image_generation_call', result: 'A'.repeat(chars), output_format: 'webp' },
  })
  const longest = (() => {
    const line = rendered(tell(made(1000))).find(({ data }) => data.includes('image_url'))
    return 64_000 - (line?.data.length ?? 0) + 1000
  })()

  test('is shown where its line is not too long', () => {
    const url = `data:image/webp;base64,${'A'.repeat(longest)}`
    expect(deltas(tell(said('So'), made(longest)))).toEqual([
      { content: 'So' },
      { images: [{ type: 'image_url', image_url: { url } }] },
    ])
  })

  test('is said not to be shown where it is, and the answer goes on', () => {
    expect(deltas(tell(made(longest + 1), said('So')))).toEqual([{ content: 'So' }])
    const told = chunks(tell(made(longest + 1), said('So'))).filter(isStatus)
    const description = expect.stringMatching(/not shown.* 48 KB /) as string
    expect(told).toEqual([{ event: { type: 'status', data: { description, done: true } } }])
  })
})

test('no chunk has a word that is for Open WebUI’s own server (C127)', () => {
  for (const chunk of chunks(tell(summary('Hm'), said('So'), call('x')))) {
    expect(Object.keys(chunk)).not.toContain('event')
    expect(Object.keys(chunk)).not.toContain('sources')
    expect(Object.keys(chunk)).not.toContain('selected_model_id')
    expect(Object.keys(chunk)).not.toContain('type')
  }
})

test('tags of thought in the text stay what they are', () => {
  const text = 'Write `<think>` and `</think>`.'
  expect(deltas(tell(said(text)))).toEqual([{ content: text }])
})

test('a whole answer has its details only with reasoning as well', () => {
  const message = (...items: readonly Item[]) => {
    const body = chatDialect.renderBody(outcomeOf(tell(...items)), forOpenWebUi()) as unknown as {
      choices: [{ message: JsonObject }]
      usage: JsonObject
    }
    expect(body.usage).toMatchObject({ total_tokens: 7 })
    return body.choices[0].message
  }
  expect(message(SEALED, said('So'))).not.toHaveProperty('reasoning_details')
  expect(message(withDetails(summary('Hm'), DETAIL), said('So'))).toMatchObject({
    reasoning_content: 'Hm',
    reasoning_details: [DETAIL],
  })
})
