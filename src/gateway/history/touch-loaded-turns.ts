/**
 * Updates the time of last use of the turns that a request has loaded, so that they do not expire. Each turn
 * is updated at most once a day, and the request does not wait for the update.
 */
import type { Caller } from '../../core/client/caller.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { LoadedHistory, UsedTurn } from './loaded-history.ts'
import type { Ports } from '../dependencies-interface.ts'

export async function touchLoadedTurns(
  { usedTurns, usedAnswers }: LoadedHistory,
  { tenant }: Caller,
  { answerMessages, recall, nowMs, log }: Ports<'answerMessages' | 'log' | 'nowMs' | 'recall'>,
): Promise<void> {
  const now = nowMs()
  const listOld = (used: readonly UsedTurn[]) =>
    used.flatMap(({ id, usedAtMs }) => (usedAtMs < now - DAY_MS ? [id] : []))
  const [turnIds, answerIds] = [listOld(usedTurns), listOld(usedAnswers)]
  const touch = async (): Promise<void> => {
    if (turnIds.length > 0) await recall.touchTurns(tenant, turnIds, now)
    if (answerIds.length > 0) await answerMessages.touchAnswers(tenant, answerIds, now)
  }
  await touch().catch((error: unknown) => {
    log('warn', 'turns-not-touched', { why: errorMessage(error) })
  })
}

export const DAY_MS = 24 * 60 * 60 * 1000
