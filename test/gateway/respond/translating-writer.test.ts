import { expect, test } from 'vitest'
import { createOutcomeCollector } from '../../../src/core/collect-answer-outcome.ts'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import { applyEventFilters } from '../../../src/gateway/respond/event-filters/apply-event-filters.ts'
import { createTranslatingWriter } from '../../../src/gateway/respond/translating-writer.ts'

const message = (text: string, status: 'in_progress' | 'incomplete') =>
  ({
    type: 'message',
    role: 'assistant',
    status,
    content: [{ type: 'output_text', text }],
  }) as const

test('no ending is rendered for a client that has disconnected, and the outcome has the partial answer', () => {
  const rendered: string[] = []
  const fold = createOutcomeCollector()
  const writer = createTranslatingWriter({
    decoder: applyEventFilters(
      {
        push: (events: readonly StreamEvent[]) => events,
        end: () => [
          { type: 'item-ended', index: 0, item: message('Half', 'incomplete') },
          { type: 'answer-ended', finish: 'stop', usage: null },
        ],
      },
      [],
    ),
    renderer: {
      push: ({ type }) => (rendered.push(type), []),
      end: () => (rendered.push('end'), []),
    },
    fold,
    nowMs: () => 0,
  })
  writer.push([
    { type: 'answer-started', upstreamId: null, model: null },
    { type: 'item-started', index: 0, item: message('', 'in_progress') },
    { type: 'text-delta', index: 0, part: 0, text: 'Half' },
  ])
  writer.abandon()
  expect(rendered).toEqual(['answer-started', 'item-started', 'text-delta'])
  expect(writer.getOutcome()).toMatchObject({
    items: [message('Half', 'incomplete')],
    finish: null,
    failure: { code: 'upstream_broken' },
  })
})
