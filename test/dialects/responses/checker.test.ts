/**
 * The checker of streams, checked: it finds nothing in what OpenAI sent, and it finds every fault
 * that is planted in a stream of ours.
 */
import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { SseMessage } from '../../../src/core/stream/stage.ts'
import { responsesFaults } from '../../support/responses-checker.ts'
import { jsonOf, recordedStreams, rendered } from '../../support/responses-kit.ts'
import { sharedExists } from '../../support/shared.ts'

/** What is known to be unlike the rules, and is not there for a test of them. */
const EXCEPTIONS = /apply-patch|starting-after|text-gpt-4o|image-generation|reasoning-summary\.sse/

describe.skipIf(!sharedExists)('a stream of OpenAI', () => {
  const streams = recordedStreams().filter(
    ({ name }) => name.startsWith('openai-responses') && !EXCEPTIONS.test(name),
  )
  test.each(streams)('$name is lawful', ({ messages }) => {
    const faults = responsesFaults(messages, { sentinel: false, wholeResponses: false })
    // It documents the error flat, and sends it nested.
    expect(faults.filter((fault) => !/error: has no (code|message|param)/.test(fault))).toEqual([])
  })
})

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
const LAWFUL = rendered(EVENTS)

test('the stream into which faults are planted is lawful', () => {
  expect(responsesFaults(LAWFUL)).toEqual([])
})

describe('a stream is not lawful', () => {
  test.each([...LAWFUL.keys()])('without its message %i', (at) => {
    expect(responsesFaults(LAWFUL.toSpliced(at, 1))).not.toEqual([])
  })

  test.each([...LAWFUL.keys()])('with its message %i a second time', (at) => {
    const again = LAWFUL.slice(at, at + 1)
    expect(responsesFaults(LAWFUL.toSpliced(at, 0, ...again))).not.toEqual([])
  })

  // Items may overlap, and an annotation may stand anywhere in its text.
  const MAY_BE_TURNED = [8, 11, 12, 16]
  const others = [...LAWFUL.keys()].slice(1).filter((at) => !MAY_BE_TURNED.includes(at))
  test.each(others)('with its messages %i and before in turned order', (at) => {
    const turned = LAWFUL.slice(at - 1, at + 1).toReversed()
    const messages = LAWFUL.toSpliced(at - 1, 2, ...turned)
    expect(responsesFaults(renumbered(messages))).not.toEqual([])
  })

  const FIELDS = LAWFUL.slice(0, -1).flatMap((message, at) =>
    Object.keys(jsonOf(message)).map((field) => ({ at, type: message.event, field })),
  )
  test.each(FIELDS)('without $field in message $at, $type', ({ at, field }) => {
    expect(responsesFaults(withField(at, field, undefined))).not.toEqual([])
  })

  const TEXTS = FIELDS.filter(({ at, field }) => {
    const message = LAWFUL[at]
    return message !== undefined && typeof jsonOf(message)[field] === 'string'
  })
  test.each(TEXTS)('with another $field in message $at, $type', ({ at, field }) => {
    expect(responsesFaults(withField(at, field, 'other'))).not.toEqual([])
  })
})

function renumbered(messages: readonly SseMessage[]): readonly SseMessage[] {
  return messages.map((message, at) => {
    if (message.data === '[DONE]') return message
    return { ...message, data: JSON.stringify({ ...jsonOf(message), sequence_number: at }) }
  })
}

function withField(at: number, field: string, value: string | undefined): readonly SseMessage[] {
  return LAWFUL.map((message, index) => {
    if (index !== at) return message
    const json: JsonObject = { ...jsonOf(message), [field]: value }
    return { ...message, data: JSON.stringify(json) }
  })
}
