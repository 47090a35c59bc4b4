/**
 * Work that an answer waits for, though it could do without: for so long, and then no more. Rejects when
 * it takes too long, and takes back the call that is under way for it.
 */
import { waitWithTimeout, TIMED_OUT } from '../../core/wait-with-timeout.ts'
import type { UpstreamCall } from '../../upstream/transport/transport-interface.ts'
import type { SendOptions } from '../send/send-with-fallback.ts'

type Caring = Pick<SendOptions, 'onCall' | 'isGone'>

export async function cancelAfterTimeout<Value>(
  work: (caring: Caring) => Promise<Value>,
  { onCall, isGone }: Caring,
  patienceMs: number,
): Promise<Value> {
  let newest: UpstreamCall | null = null
  let isLate = false
  const done = await waitWithTimeout(
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
  if (done !== TIMED_OUT) return done
  isLate = true
  ;(newest as UpstreamCall | null)?.cancel()
  throw new Error('It took too long.')
}
