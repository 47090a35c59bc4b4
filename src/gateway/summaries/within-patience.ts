/**
 * Work that an answer waits for, though it could do without: for so long, and then no more. Rejects when
 * it takes too long, and takes back the call that is under way for it.
 */
import { inTime, LATE } from '../../core/wait-with-timeout.ts'
import type { Call } from '../../upstream/transport/transport-interface.ts'
import type { Asking } from '../send/send-with-fallback.ts'

type Caring = Pick<Asking, 'onCall' | 'isGone'>

export async function withinPatience<Value>(
  work: (caring: Caring) => Promise<Value>,
  { onCall, isGone }: Caring,
  patienceMs: number,
): Promise<Value> {
  let newest: Call | null = null
  let isLate = false
  const done = await inTime(
    work({
      isGone: () => isLate || isGone(),
      onCall(call) {
        newest = call
        onCall(call)
        if (isLate) call.cancel()
      },
    }),
    patienceMs,
  )
  if (done !== LATE) return done
  isLate = true
  ;(newest as Call | null)?.cancel()
  throw new Error('It took too long.')
}
