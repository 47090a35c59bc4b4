/**
 * What follows an answer behind its end: the request is kept, layers are told, the conversation is
 * summed up. No answer waits for it or fails of it, and whoever waits for the answer is told it first.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { Outcome } from '../../core/fold-answer-outcome.ts'
import type { Recorder } from '../record/recorder-interface.ts'
import type { GatewayDependencies } from '../dependencies-interface.ts'
import type { PreparedRequest } from '../prompt/prepare-request.ts'

export interface AnsweredRequest {
  /** What was sent, to whoever answered. */
  readonly prepared: PreparedRequest
  /** All that was sent for it so far, in order: the same, unless it is asked for in several rounds. */
  readonly sent: () => readonly PreparedRequest[]
  readonly caller: Caller
  readonly turnId: string
  readonly recorder: Recorder
}

/** `null` where there is nothing to do behind this answer. */
export type AfterAnswerTask = (
  answered: AnsweredRequest,
  world: GatewayDependencies,
) => Follower | null

/** `told` is what the answer came to, once its client has heard it. */
type Follower = (told: Promise<Outcome>) => Promise<unknown>

/** The recorder of an answer, with what follows once the answer is settled. */
export function attachAfterAnswerTasks(
  answered: AnsweredRequest,
  followings: readonly AfterAnswerTask[],
  waitUntil: (work: Promise<unknown>) => void,
  world: GatewayDependencies,
): Recorder {
  const { recorder } = answered
  const followers = followings.flatMap((following) => following(answered, world) ?? [])
  if (followers.length === 0) return recorder
  return {
    ...recorder,
    settle(outcome, ending, made) {
      const settled = recorder.settle(outcome, ending, made)
      const told = settled.then(afterIt)
      // Each says itself what went wrong; of an answer that could not be settled that is told already.
      for (const follow of followers) waitUntil(follow(told).catch(() => undefined))
      return settled
    },
  }
}

async function afterIt(outcome: Outcome): Promise<Outcome> {
  await new Promise((resolve) => setTimeout(resolve))
  return outcome
}
