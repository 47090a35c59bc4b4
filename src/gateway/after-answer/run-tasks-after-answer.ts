/**
 * Runs the tasks that follow an answer: storing the sent requests, updating memory layers, summarizing the
 * conversation. The client has its complete answer by then, so a slow or failed task does not affect it.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { Outcome } from '../../core/collect-answer-outcome.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import type { Recorder } from '../record/recorder-interface.ts'

/** Prepares the work of one task; returns null if this answer gives the task nothing to do. */
export type AfterAnswerTask = (answered: AnsweredRequest) => AfterAnswerWork | null

/**
 * Prepares all tasks, and starts their work after `settled` resolves: the answer's last event has been written by
 * then.
 */
export function runTasksAfterAnswer(
  tasks: readonly AfterAnswerTask[],
  answered: AnsweredRequest,
  settled: Promise<Outcome>,
  waitUntil: (work: Promise<unknown>) => void,
): void {
  const works = tasks.flatMap((task) => task(answered) ?? [])
  if (works.length === 0) return
  const outcome = settled.then(yieldOnce)
  // Failures are ignored here, because each task logs its own.
  for (const work of works) waitUntil(work(outcome).catch(() => undefined))
}

/** Waits for one pass of the event loop, so that the client's last event is sent before the tasks begin. */
async function yieldOnce(outcome: Outcome): Promise<Outcome> {
  await new Promise((resolve) => setTimeout(resolve))
  return outcome
}

export interface AnsweredRequest {
  /** The first of the answer's upstream requests. */
  readonly prepared: PreparedRequest
  /** Returns all upstream requests of the answer so far; more than one if the model called gateway tools. */
  readonly listSentRequests: () => readonly PreparedRequest[]
  readonly caller: Caller
  readonly turnId: string
  readonly recorder: Recorder
}

/** The work of a task. It begins when `outcome` resolves, after the client has been sent the last event. */
export type AfterAnswerWork = (outcome: Promise<Outcome>) => Promise<unknown>
