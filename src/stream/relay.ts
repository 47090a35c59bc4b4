/**
 * Joins an upstream's body to a client, and owns the three endings of a stream: it finished, it
 * broke off upstream, the client hung up. Whatever happens, exactly one of them runs, once.
 *
 * Nothing here waits on the path of a token. The two things worth waiting for are a client that is
 * full, which holds the upstream back, and the outcome being safe, which holds back the last words. What
 * a rendition holds back itself (`held-words.ts`), it sends when it is time.
 */
import { failureOf } from '../errors.ts'
import type { Failure } from '../conversation/event.ts'
import type { Outcome } from '../conversation/outcome.ts'
import type { Client } from '../edge/exchange.ts'
import type { Call, Reply } from '../transport/transport.ts'
import type { Rendition } from './rendition.ts'

export interface Relay {
  readonly call: Call
  readonly reply: Reply
  readonly rendition: Rendition
  readonly client: Client
  /** Makes the outcome safe. What it resolves to is what the client is told. */
  readonly settle: (outcome: Outcome, ending: 'finished' | 'cancelled') => Promise<Outcome>
  readonly heartbeatMs: number
}

const GONE = failureOf('upstream_broken', 'The client went away.')

export function relay({ call, reply, rendition, client, settle, heartbeatMs }: Relay): void {
  let over = false
  const { send, stopBeating } = heartbeat(client, heartbeatMs)

  const finish = (failure: Failure | null): void => {
    if (over) return
    over = true
    send(rendition.close(failure))
    void settle(rendition.outcome(), 'finished').then((outcome) => {
      stopBeating()
      client.end(rendition.end(outcome))
    })
  }

  const hungUp = (): void => {
    if (over) return
    over = true
    stopBeating()
    // Nobody hears it any more, but what had been begun is kept as it stands.
    rendition.close(GONE)
    call.cancel()
    void settle({ ...rendition.outcome(), failure: null }, 'cancelled')
  }

  const unreadable = (): void => {
    // Told before the call is cancelled, which would be heard of as a broken connection.
    finish(failureOf('upstream_broken', 'The upstream sent a stream that cannot be read.'))
    call.cancel()
  }

  const flow = reply.flow({
    chunk(bytes) {
      if (over) return
      try {
        if (!send(rendition.push(bytes))) flow.pause()
        if (!rendition.isOver()) return
        finish(null)
        if (rendition.isCut()) call.cancel()
      } catch {
        unreadable()
      }
    },
    end: () => finish(null),
    // A client that hangs up may be heard of here first: its upstream is cancelled at once.
    failed: (failure) => (client.isGone() ? hungUp() : finish(failure)),
  })
  rendition.later?.((text) => {
    if (client.isGone()) return
    try {
      if (!send(text()) && !over) flow.pause()
    } catch {
      unreadable()
    }
  })
  client.onGone(hungUp)
  client.onDrain(flow.resume)
}

/** Writes to a client, and to one that has heard nothing for so long something that says nothing. */
function heartbeat(client: Client, heartbeatMs: number) {
  let quiet = true
  const timer = setInterval(() => {
    if (quiet) client.write(': ping\n\n')
    quiet = true
  }, heartbeatMs)
  const send = (text: string | Uint8Array): boolean => {
    if (text.length === 0) return true
    quiet = false
    return client.write(text)
  }
  return { send, stopBeating: () => clearInterval(timer) }
}
