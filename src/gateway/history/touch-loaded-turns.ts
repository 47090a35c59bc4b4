/**
 * Says of turns that were needed that they were, so that they are not taken for forgotten: of each no
 * more often than once a day, and never on the way of a request.
 */
import type { Caller } from '../../core/client/caller.ts'
import { messageOf } from '../../core/errors/gateway-error.ts'
import type { World } from '../dependencies-interface.ts'
import type { History } from './load-history-by-id.ts'

export async function keepNeeded(
  { needed }: History,
  { tenant }: Caller,
  { recall, nowMs, log }: World,
): Promise<void> {
  const now = nowMs()
  const old = needed.flatMap(({ id, usedAtMs }) => (usedAtMs < now - DAY_MS ? [id] : []))
  if (old.length === 0) return
  await recall.touchTurns(tenant, old, now).catch((error: unknown) => {
    log('warn', 'turns-not-touched', { why: messageOf(error) })
  })
}

export const DAY_MS = 24 * 60 * 60 * 1000
