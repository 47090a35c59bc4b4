import { expect, test } from 'vitest'
import { createCompactionItem } from '../../../../src/core/items/compaction-item.ts'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import { createFailure } from '../../../../src/core/errors/gateway-error.ts'
import { createPrependItemFilter } from '../../../../src/gateway/respond/event-filters/prepend-item.ts'
import { runStage } from '../../../../src/core/stream/stream-stage.ts'
import { findEventFaults } from '../../../support/event-laws.ts'

const ITEM = createCompactionItem('cmp_1', 'so far')
const MESSAGE = { type: 'message', role: 'assistant' } as const
const TEXT = { type: 'output_text', text: 'hi' } as const
const EVENTS: readonly StreamEvent[] = [
  { type: 'answer-started', upstreamId: 'u', model: 'm' },
  { type: 'item-started', index: 0, item: { ...MESSAGE, content: [] } },
  { type: 'text-delta', index: 0, part: 0, text: 'hi' },
  { type: 'item-ended', index: 0, item: { ...MESSAGE, content: [TEXT] } },
  { type: 'answer-ended', finish: 'stop', usage: null },
]

const filterEvents = (events: readonly StreamEvent[]) =>
  runStage(createPrependItemFilter(ITEM), events)

test('a prepended item comes first and increases the index of the other items by one', () => {
  expect(findEventFaults(filterEvents(EVENTS))).toEqual([])
  expect(
    filterEvents(EVENTS).map((event) =>
      'index' in event ? `${event.type} ${event.index}` : event.type,
    ),
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

test('a prepended item is sent even if the answer fails immediately', () => {
  const failure = createFailure('upstream_broken', 'no')
  expect(filterEvents([{ type: 'answer-failed', failure }]).map(({ type }) => type)).toEqual([
    'item-started',
    'item-ended',
    'answer-failed',
  ])
})
