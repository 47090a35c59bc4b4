/**
 * Tests the stream checker of the other tests: it accepts recorded streams of OpenAI, and finds every
 * fault that is inserted into a valid stream.
 */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import type { SseMessage } from '../../../src/core/stream/sse.ts'
import { responsesFaults } from '../../support/responses-checker.ts'
import { jsonOf, recordedStreams, renderEvents } from '../../support/responses-kit.ts'
import { sharedExists } from '../../support/shared-files.ts'

/** Recorded streams that differ from the documented rules. */
const EXCEPTIONS = /apply-patch|starting-after|text-gpt-4o|image-generation|reasoning-summary\.sse/

describe.skipIf(!sharedExists)(
  'the checker of Responses streams and recorded streams of OpenAI',
  () => {
    const streams = recordedStreams().filter(
      ({ name }) => name.startsWith('openai-responses') && !EXCEPTIONS.test(name),
    )
    test.each(streams)(
      'the checker of Responses streams accepts the recorded stream $name',
      ({ messages }) => {
        const faults = responsesFaults(messages, { sentinel: false, wholeResponses: false })
        // OpenAI documents the error fields at the top level, but sends them under `error`.
        expect(faults.filter((fault) => !/error: has no (code|message|param)/.test(fault))).toEqual(
          [],
        )
      },
    )
  },
)

const EVENTS: readonly StreamEvent[] = [
  { type: 'answer-started', upstreamId: null, model: null },
  { type: 'item-started', index: 0, item: { type: 'reasoning', summary: [] } },
  { type: 'reasoning-delta', index: 0, channel: 'summary', part: 0, text: 'hm' },
  {
    type: 'item-ended',
    index: 0,
    item: { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
  },
  { type: 'item-started', index: 1, item: { type: 'message', role: 'assistant', content: [] } },
  { type: 'text-delta', index: 1, part: 0, text: 'a' },
  { type: 'annotation-added', index: 1, part: 0, annotation: { type: 'x' } },
  { type: 'text-delta', index: 1, part: 0, text: 'b' },
  {
    type: 'item-ended',
    index: 1,
    item: {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'ab', annotations: [{ type: 'x' }] }],
    },
  },
  {
    type: 'item-ended',
    index: 2,
    item: { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
  },
  { type: 'answer-ended', finish: 'stop', usage: null },
]
const VALID_STREAM = renderEvents(EVENTS)

test('the checker of Responses streams accepts a stream without faults', () => {
  expect(responsesFaults(VALID_STREAM)).toEqual([])
})

describe('faults that the checker of Responses streams finds', () => {
  test.each([...VALID_STREAM.keys()])(
    'the checker of Responses streams rejects a stream without its message %i',
    (index) => {
      expect(responsesFaults(VALID_STREAM.toSpliced(index, 1))).not.toEqual([])
    },
  )

  test.each([...VALID_STREAM.keys()])(
    'the checker of Responses streams rejects a stream that contains message %i twice',
    (index) => {
      const again = VALID_STREAM.slice(index, index + 1)
      expect(responsesFaults(VALID_STREAM.toSpliced(index, 0, ...again))).not.toEqual([])
    },
  )

  // Items may overlap, and an annotation may come anywhere in its text.
  const SWAPPABLE = [8, 11, 12, 16]
  const fixedMessages = [...VALID_STREAM.keys()]
    .slice(1)
    .filter((index) => !SWAPPABLE.includes(index))
  test.each(fixedMessages)(
    'the checker of Responses streams rejects a stream in which message %i and the one before it are swapped',
    (index) => {
      const swapped = VALID_STREAM.slice(index - 1, index + 1).toReversed()
      const messages = VALID_STREAM.toSpliced(index - 1, 2, ...swapped)
      expect(responsesFaults(renumber(messages))).not.toEqual([])
    },
  )

  const FIELDS = VALID_STREAM.slice(0, -1).flatMap((message, index) =>
    Object.keys(jsonOf(message))
      // OpenAI's own streams do not have the name at the end of arguments.
      .filter((field) => field !== 'name')
      .map((field) => ({ index, type: message.event, field })),
  )
  test.each(FIELDS)(
    'the checker of Responses streams rejects a stream without $field in message $index, $type',
    ({ index, field }) => {
      expect(responsesFaults(withField(index, field, undefined))).not.toEqual([])
    },
  )

  const TEXTS = FIELDS.filter(({ index, field }) => {
    const message = VALID_STREAM[index]
    return message !== undefined && typeof jsonOf(message)[field] === 'string'
  })
  test.each(TEXTS)(
    'the checker of Responses streams rejects a stream with a wrong $field in message $index, $type',
    ({ index, field }) => {
      expect(responsesFaults(withField(index, field, 'other'))).not.toEqual([])
    },
  )
})

function renumber(messages: readonly SseMessage[]): readonly SseMessage[] {
  return messages.map((message, index) => {
    if (message.data === '[DONE]') return message
    return { ...message, data: JSON.stringify({ ...jsonOf(message), sequence_number: index }) }
  })
}

function withField(index: number, field: string, value: string | undefined): readonly SseMessage[] {
  return VALID_STREAM.map((message, other) => {
    if (other !== index) return message
    const json: JsonObject = { ...jsonOf(message), [field]: value }
    return { ...message, data: JSON.stringify(json) }
  })
}
