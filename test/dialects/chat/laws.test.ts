/** Whatever an answer is, the official client puts it together again, and so does our decoder. */
import fc, { type Arbitrary } from 'fast-check'
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream'
import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import type { Item } from '../../../src/core/item.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { joinVisibleText } from '../../../src/dialects/chat/render/join-visible-text.ts'
import { openaiChat } from '../../../src/providers/openai-chat/openai-chat.ts'
import { createSseDecoder } from '../../../src/core/stream/sse.ts'
import { runStage } from '../../../src/core/stream/stage.ts'
import { eventFaults } from '../../support/event-laws.ts'
import { accountOf, itemsIn } from '../../providers/openai-chat/kit.ts'
import { ENDED, outcomeOf, rendered, STARTED, tellItem } from './kit.ts'

const text = fc.oneof(
  fc.constantFrom('', 'a', '\n', 'grüezi 🦊', '"}]\\', 'x'.repeat(12_000)),
  fc.string({ unit: 'binary', maxLength: 6 }),
)
const word = fc.constantFrom('look', 'sh', 'f')

/** Items of an answer, each with its deltas cut in two. */
const answer: Arbitrary<readonly StreamEvent[]> = fc
  .array(fc.oneof(message(), reasoning(), call(), hosted()), { maxLength: 5 })
  .chain((items) => {
    const told = items.map((item, at) => tellItem(unique(item, at), at).flatMap(cut))
    const finish = fc.constantFrom('stop', 'length', 'content-filter')
    return fc
      .tuple(interleaved(told), finish)
      .map(([events, ending]) => [STARTED, ...events, { ...ENDED, finish: ending } as StreamEvent])
  })

function message(): Arbitrary<Item> {
  return fc.array(text, { maxLength: 2 }).map((texts) => ({
    type: 'message',
    role: 'assistant',
    content: texts.map((one, at) =>
      at === 1 && one === 'a'
        ? { type: 'refusal', refusal: one }
        : { type: 'output_text', text: one },
    ),
  }))
}

function reasoning(): Arbitrary<Item> {
  return fc.array(text, { maxLength: 2 }).map((texts) => ({
    type: 'reasoning',
    summary: texts.map((one) => ({ type: 'summary_text', text: one })),
  }))
}

function call(): Arbitrary<Item> {
  return fc
    .tuple(word, text, fc.boolean())
    .map(([name, input, isCustom]) =>
      isCustom
        ? { type: 'custom_tool_call', call_id: '', name, input }
        : { type: 'function_call', call_id: '', name, arguments: input },
    )
}

function hosted(): Arbitrary<Item> {
  return fc.constant({ type: 'opaque', raw: { type: 'web_search_call', id: 'ws' } })
}

function unique(item: Item, at: number): Item {
  return 'call_id' in item ? { ...item, call_id: `call_${at}` } : item
}

function cut(event: StreamEvent): readonly StreamEvent[] {
  if (!('text' in event) || event.text.length < 2) return [event]
  const half = event.text.length >> 1
  return [
    { ...event, text: event.text.slice(0, half) },
    { ...event, text: event.text.slice(half) },
  ]
}

/** Calls may overlap; the rest comes one after the other, as providers tell it. */
function interleaved(told: readonly (readonly StreamEvent[])[]): Arbitrary<readonly StreamEvent[]> {
  return fc.boolean().map((isMixed) => {
    const all = told.flat()
    if (!isMixed) return all
    const ends = all.filter(({ type }) => type === 'item-ended')
    return [...all.filter(({ type }) => type !== 'item-ended'), ...ends]
  })
}

function bytesOf(events: readonly StreamEvent[], body: JsonObject = {}): Uint8Array {
  const lines = rendered(events, body).map(({ data }) => `data: ${data}\n\n`)
  return new TextEncoder().encode(lines.join(''))
}

describe('an answer', () => {
  test('is put together by the official client as it was', async () => {
    await fc.assert(
      fc.asyncProperty(answer, async (events) => {
        expect(eventFaults(events)).toEqual([])
        const { items } = outcomeOf(events)
        const final = await byTheClient(events)
        const spoken = final.choices[0]?.message
        const calls = items.filter(
          (item) => item.type === 'function_call' || item.type === 'custom_tool_call',
        )
        expect(spoken?.content ?? '').toBe(joinVisibleText(items))
        expect(spoken?.tool_calls?.length ?? 0).toBe(calls.length)
        for (const [at, made] of (spoken?.tool_calls ?? []).entries()) {
          const item = calls[at]
          if (made.type === 'function' && item?.type === 'function_call') {
            const { arguments: input, name } = made.function
            expect({ name, input }).toEqual({ name: item.name, input: item.arguments })
          } else if (made.type === 'custom' && item?.type === 'custom_tool_call') {
            expect(made.custom.input).toBe(item.input)
          } else expect(item?.type).toBe(`${made.type}_tool_call`)
        }
      }),
      { numRuns: 60 },
    )
  })

  test('is read by our own decoder as it was, however its bytes are cut', () => {
    fc.assert(
      fc.property(answer, fc.integer({ min: 1, max: 5000 }), (events, size) => {
        const bytes = bytesOf(events)
        const cuts: Uint8Array[] = []
        for (let at = 0; at < bytes.length; at += size) cuts.push(bytes.subarray(at, at + size))
        const read = runStage(
          openaiChat.createDecoder(accountOf()),
          runStage(createSseDecoder(), cuts),
        )
        expect(eventFaults(read)).toEqual([])
        const before = outcomeOf(events)
        const after = itemsIn(read)
        const callsOf = (items: readonly Item[]) =>
          items.flatMap((item) =>
            item.type === 'function_call' ? [item.name + item.arguments] : [],
          )
        expect(callsOf(after)).toEqual(callsOf(before.items))
        expect(read.at(-1)).toMatchObject({ type: 'answer-ended', finish: before.finish })
      }),
      { numRuns: 60 },
    )
  })

  test('never has a line longer than 64 KiB (C127)', () => {
    fc.assert(
      fc.property(answer, (events) => {
        for (const { data } of rendered(events)) {
          expect(new TextEncoder().encode(data).length).toBeLessThan(65_000)
        }
      }),
      { numRuns: 30 },
    )
  })
})

async function byTheClient(events: readonly StreamEvent[]) {
  const lines = rendered(events).slice(0, -1)
  const bytes = new TextEncoder().encode(lines.map(({ data }) => `${data}\n`).join(''))
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes)
      controller.close()
    },
  })
  return ChatCompletionStream.fromReadableStream(stream).finalChatCompletion()
}
