/**
 * Runs the tasks that follow an answer: the sent requests are stored, memory layers are updated, the
 * conversation is summarized. No answer waits for them or fails because of them.
 */
import type { Outcome } from '../../core/fold-answer-outcome.ts'
import type { AnsweredRequest, AfterAnswerWork } from './answered-request.ts'

/** A task that runs after an answer; null if it has nothing to do after this one. */
export type AfterAnswerTask = (answered: AnsweredRequest) => AfterAnswerWork | null

/** Starts the tasks once the answer is settled and its last event has been written. */
export function runAfterAnswer(
  tasks: readonly AfterAnswerTask[],
  answered: AnsweredRequest,
  settled: Promise<Outcome>,
  waitUntil: (work: Promise<unknown>) => void,
): void {
  const works = tasks.flatMap((task) => task(answered) ?? [])
  if (works.length === 0) return
  const outcome = settled.then(yieldOnce)
  // Each task logs its own failure; a failure to settle is logged already.
  for (const work of works) waitUntil(work(outcome).catch(() => undefined))
}

/** Lets the client's last event go out before the work of the tasks begins. */
async function yieldOnce(outcome: Outcome): Promise<Outcome> {
  await new Promise((resolve) => setTimeout(resolve))
  return outcome
}
