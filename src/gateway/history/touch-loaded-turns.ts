/**
 * Updates the time of last use of the turns that a request has loaded, so that they do not expire. Each turn
 * is updated at most once a day, and the request does not wait for the update.
 */
import type { Caller } from '../../core/client/caller.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { LoadedHistory } from './loaded-history.ts'
import type { Ports } from '../dependencies-interface.ts'

export async function touchLoadedTurns(
  { usedTurns }: LoadedHistory,
  { tenant }: Caller,
  { recall, nowMs, log }: Ports<'log' | 'nowMs' | 'recall'>,
): Promise<void> {
  const now = nowMs()
  const old = usedTurns.flatMap(({ id, usedAtMs }) => (usedAtMs < now - DAY_MS ? [id] : []))
  if (old.length === 0) return
  await recall.touchTurns(tenant, old, now).catch((error: unknown) => {
    log('warn', 'turns-not-touched', { why: errorMessage(error) })
  })
}

export const DAY_MS = 24 * 60 * 60 * 1000
