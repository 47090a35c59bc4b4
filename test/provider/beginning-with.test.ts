import { expect, test } from 'vitest'
import { compactionItem } from '../../src/conversation/compaction.ts'
import type { StreamEvent } from '../../src/conversation/event.ts'
import { failureOf } from '../../src/errors.ts'
import { beginningWith } from '../../src/provider/beginning-with.ts'
import { demo } from '../../src/provider/demo/demo.ts'
import type { Account } from '../../src/provider/provider.ts'
import { eventFaults } from '../support/event-laws.ts'

const ACCOUNT = { name: 'demo', wire: 'demo', quirks: {} } as unknown as Account
const ITEM = compactionItem('cmp_1', 'so far')
const MESSAGE = { type: 'message', role: 'assistant' } as const
const TEXT = { type: 'output_text', text: 'hi' } as const
const EVENTS: readonly StreamEvent[] = [
  { type: 'answer-started', upstreamId: 'u', model: 'm' },
  { type: 'item-started', index: 0, item: { ...MESSAGE, content: [] } },
  { type: 'text-delta', index: 0, part: 0, text: 'hi' },
  { type: 'item-ended', index: 0, item: { ...MESSAGE, content: [TEXT] } },
  { type: 'answer-ended', finish: 'stop', usage: null },
]

function streamed(events: readonly StreamEvent[]): readonly StreamEvent[] {
  const decoder = beginningWith(demo, ITEM).decode(ACCOUNT)
  const told = events.flatMap((event) => decoder.push({ data: JSON.stringify(event) }))
  return [...told, ...decoder.end()]
}

test('the item comes first, and all others one place later', () => {
  const told = streamed(EVENTS)
  expect(eventFaults(told)).toEqual([])
  expect(
    told.map((event) => ('index' in event ? `${event.type} ${event.index}` : event.type)),
  ).toEqual([
    'answer-started',
    'item-started 0',
    'item-ended 0',
    'item-started 1',
    'text-delta 1',
    'item-ended 1',
    'answer-ended',
  ])
})

test('an answer in one piece is told the same way', () => {
  const body = JSON.parse(JSON.stringify({ events: EVENTS })) as never
  expect(beginningWith(demo, ITEM).decodeWhole(body, ACCOUNT)).toEqual(streamed(EVENTS))
})

test('an answer that fails at once still has it', () => {
  const failure = failureOf('upstream_broken', 'no')
  expect(streamed([{ type: 'answer-failed', failure }]).map(({ type }) => type)).toEqual([
    'item-started',
    'item-ended',
    'answer-failed',
  ])
})

test('what has been added to cannot be passed on as it comes', () => {
  expect(beginningWith(demo, ITEM).speaks({} as never, ACCOUNT)).toBeNull()
})
