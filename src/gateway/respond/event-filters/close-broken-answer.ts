/**
 * What is left to say of an answer that broke off: what had been begun is closed as it stands, so
 * that it can be kept and shown, and then comes the failure.
 */
import { isTerminalEvent, type Failure, type StreamEvent } from '../../../core/stream-event.ts'
import type { Stage } from '../../../core/stream/stage.ts'

export function closeBrokenAnswer(
  { end }: Pick<Stage<never, StreamEvent>, 'end'>,
  failure: Failure,
): readonly StreamEvent[] {
  const left = end()
  const closed = left.filter((event) => !isTerminalEvent(event))
  return [...closed, { type: 'answer-failed', failure }]
}
