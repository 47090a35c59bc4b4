import { expect, test } from 'vitest'
import { GatewayError } from '../../../src/core/errors/gateway-error.ts'
import { limitTransportTime } from '../../../src/upstream/transport/limit-transport-time.ts'
import {
  MaybeProcessedError,
  type UpstreamReply,
} from '../../../src/upstream/transport/transport-interface.ts'

/** Sends a request that ends with `outcome` when it is cancelled; `ageMs` is the time that its limit of 1 s has run. */
async function exceedLimit(outcome: GatewayError, ageMs: number): Promise<unknown> {
  const cancelled = Promise.withResolvers<UpstreamReply>()
  const call = { reply: cancelled.promise, cancel: () => cancelled.reject(outcome) }
  const limited = limitTransportTime(() => call, {
    startedAtMs: performance.now() - ageMs,
    seconds: 1,
    code: 'answer_timeout',
  })
  const request = { method: 'POST', url: 'https://api.example/', headers: {}, body: null }
  return limited(request).reply.catch((rejected: unknown) => rejected)
}

const SENT = new MaybeProcessedError('upstream_unreachable')
const NOT_SENT = new GatewayError('upstream_unreachable')

test.each([
  ['after it was sent', SENT, 990, true],
  ['before it was sent', NOT_SENT, 990, false],
  ['before it was started', SENT, 1000, false],
])(
  'the error of a request whose time is over %s tells whether it may have been processed',
  async (_, outcome, ageMs, mayBeProcessed) => {
    const rejected = await exceedLimit(outcome, ageMs)
    expect(rejected).toMatchObject({ failure: { status: 504, code: 'answer_timeout' } })
    expect(rejected instanceof MaybeProcessedError).toBe(mayBeProcessed)
  },
)
