/** Property tests: OpenAI's SDK and the gateway's own decoder read any rendered answer correctly. */
import fc, { type Arbitrary } from 'fast-check'
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream'
import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import type { Item } from '../../../src/core/item.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { joinVisibleText } from '../../../src/dialects/chat/render/join-visible-text.ts'
import { openaiChat } from '../../../src/providers/openai-chat/openai-chat.ts'
import { createSseDecoder } from '../../../src/core/stream/sse.ts'
import { runStage } from '../../../src/core/stream/stream-stage.ts'
import { findEventFaults } from '../../support/event-laws.ts'
import { accountOf, itemsIn } from '../../providers/openai-chat/kit.ts'
import { ENDED, foldOutcome, renderStream, STARTED, createItemEvents } from './kit.ts'

const text = fc.oneof(
  fc.constantFrom('', 'a', '\n', 'grüezi 🦊', '"}]\\', 'x'.repeat(12_000)),
  fc.string({ unit: 'binary', maxLength: 6 }),
)
const word = fc.constantFrom('look', 'sh', 'f')

/** An answer with up to five items, in which each delta is split in two. */
const answer: Arbitrary<readonly StreamEvent[]> = fc
  .array(fc.oneof(message(), reasoning(), call(), hosted()), { maxLength: 5 })
  .chain((items) => {
    const events = items.map((item, index) =>
      createItemEvents(setCallId(item, index), index).flatMap(splitDelta),
    )
    const finish = fc.constantFrom('stop', 'length', 'content-filter')
    return fc
      .tuple(interleave(events), finish)
      .map(([mixed, ending]) => [STARTED, ...mixed, { ...ENDED, finish: ending } as StreamEvent])
  })

function message(): Arbitrary<Item> {
  return fc.array(text, { maxLength: 2 }).map((texts) => ({
    type: 'message',
    role: 'assistant',
    content: texts.map((partText, index) =>
      index === 1 && partText === 'a'
        ? { type: 'refusal', refusal: partText }
        : { type: 'output_text', text: partText },
    ),
  }))
}

function reasoning(): Arbitrary<Item> {
  return fc.array(text, { maxLength: 2 }).map((texts) => ({
    type: 'reasoning',
    summary: texts.map((partText) => ({ type: 'summary_text', text: partText })),
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

function setCallId(item: Item, index: number): Item {
  return 'call_id' in item ? { ...item, call_id: `call_${index}` } : item
}

function splitDelta(event: StreamEvent): readonly StreamEvent[] {
  if (!('text' in event) || event.text.length < 2) return [event]
  const half = event.text.length >> 1
  return [
    { ...event, text: event.text.slice(0, half) },
    { ...event, text: event.text.slice(half) },
  ]
}

/** Moves the ends of all items to the end in half of the answers, so that items overlap. */
function interleave(
  events: readonly (readonly StreamEvent[])[],
): Arbitrary<readonly StreamEvent[]> {
  return fc.boolean().map((isMixed) => {
    const all = events.flat()
    if (!isMixed) return all
    const ends = all.filter(({ type }) => type === 'item-ended')
    return [...all.filter(({ type }) => type !== 'item-ended'), ...ends]
  })
}

function bytesOf(events: readonly StreamEvent[], body: JsonObject = {}): Uint8Array {
  const lines = renderStream(events, body).map(({ data }) => `data: ${data}\n\n`)
  return new TextEncoder().encode(lines.join(''))
}

describe('laws of rendered chat answers', () => {
  test('the OpenAI SDK reads any rendered chat answer correctly', async () => {
    await fc.assert(
      fc.asyncProperty(answer, async (events) => {
        expect(findEventFaults(events)).toEqual([])
        const { items } = foldOutcome(events)
        const completion = await readWithSdk(events)
        const message = completion.choices[0]?.message
        const calls = items.filter(
          (item) => item.type === 'function_call' || item.type === 'custom_tool_call',
        )
        expect(message?.content ?? '').toBe(joinVisibleText(items))
        expect(message?.tool_calls?.length ?? 0).toBe(calls.length)
        for (const [index, made] of (message?.tool_calls ?? []).entries()) {
          const item = calls[index]
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

  test("the gateway's stream decoder reads any rendered chat answer correctly, however its bytes are split into chunks", () => {
    fc.assert(
      fc.property(answer, fc.integer({ min: 1, max: 5000 }), (events, size) => {
        const bytes = bytesOf(events)
        const pieces: Uint8Array[] = []
        for (let start = 0; start < bytes.length; start += size) {
          pieces.push(bytes.subarray(start, start + size))
        }
        const read = runStage(
          openaiChat.createDecoder(accountOf()),
          runStage(createSseDecoder(), pieces),
        )
        expect(findEventFaults(read)).toEqual([])
        const before = foldOutcome(events)
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

  test('no rendered chat answer has a line longer than 64 KiB (C127)', () => {
    fc.assert(
      fc.property(answer, (events) => {
        for (const { data } of renderStream(events)) {
          expect(new TextEncoder().encode(data).length).toBeLessThan(65_000)
        }
      }),
      { numRuns: 30 },
    )
  })
})

async function readWithSdk(events: readonly StreamEvent[]) {
  const lines = renderStream(events).slice(0, -1)
  const bytes = new TextEncoder().encode(lines.map(({ data }) => `${data}\n`).join(''))
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes)
      controller.close()
    },
  })
  return ChatCompletionStream.fromReadableStream(stream).finalChatCompletion()
}
