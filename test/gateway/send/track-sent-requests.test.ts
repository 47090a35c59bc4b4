import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../../src/core/errors/gateway-error.ts'
import { trackSentRequests } from '../../../src/gateway/send/track-sent-requests.ts'
import {
  MaybeProcessedError,
  type UpstreamReply,
} from '../../../src/upstream/transport/transport-interface.ts'

type Reply = number | Error | 'none'

/** Sends one request for each reply: a status, an error, or none yet. */
async function mayBeProcessed(...replies: readonly Reply[]): Promise<boolean> {
  const remaining = [...replies]
  const sent = trackSentRequests(() => ({ reply: settle(remaining.shift()), cancel() {} }))
  const request = { method: 'POST', url: 'https://api.example/', headers: {}, body: null }
  for (const reply of replies) {
    const call = sent.transport(request).reply
    if (reply !== 'none') await call.catch(() => undefined)
  }
  return sent.mayBeProcessed()
}

function settle(reply: Reply = 'none'): Promise<UpstreamReply> {
  if (reply === 'none') return new Promise(() => undefined)
  if (reply instanceof Error) return Promise.reject(reply)
  return Promise.resolve({ status: reply, headers: {}, flow: () => ({ pause() {}, resume() {} }) })
}

const NOT_REACHED = new GatewayError('upstream_unreachable')
const UNKNOWN_OUTCOME = new MaybeProcessedError('upstream_broken')

describe('whether a request may have been processed by an upstream', () => {
  test.each<[string, boolean, readonly Reply[]]>([
    ['no request was sent', false, []],
    ['the upstream rejected it', false, [429]],
    ['the upstream redirected it', false, [302]],
    ['the upstream accepted it', true, [200]],
    ['the upstream has not replied yet', true, ['none']],
    ['a proxy of the upstream did not wait for its answer', true, [504]],
    ['the upstream was not reached', false, [NOT_REACHED]],
    ['the connection broke', true, [UNKNOWN_OUTCOME]],
    ['a request for a summary was accepted, and its own rejected', false, [200, 500]],
    ['one upstream broke off, and the next rejected it', true, [UNKNOWN_OUTCOME, 429]],
  ])('%s: %s', async (_, expected, replies) => {
    expect(await mayBeProcessed(...replies)).toBe(expected)
  })
})
