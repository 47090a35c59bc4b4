/**
 * Asks one upstream after the other until one begins to answer. All of this happens before the first
 * byte: afterwards there is no second attempt, and of a failed one the client sees nothing.
 */
import { GatewayError, errorMessage } from '../../core/errors/gateway-error.ts'
import type { PushSource } from '../../core/stream/push-source.ts'
import { dropRejectedParameters } from '../../providers/request/drop-rejected-parameters.ts'
import type { UpstreamTarget } from '../../upstream/accounts-and-model-routing.ts'
import { getBodySource, readErrorReply } from '../../upstream/transport/read-body.ts'
import { rejectContentEncoding } from '../../upstream/transport/reject-content-encoding.ts'
import type { UpstreamCall } from '../../upstream/transport/transport-interface.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import { buildHttpRequest } from './build-http-request.ts'
import { prepareRetryWithoutReasoning } from './prepare-retry-without-reasoning.ts'
import type { Ports } from '../dependencies-interface.ts'

export interface RawAnswer {
  readonly prepared: PreparedRequest
  /** Of what it answers, in its wire. */
  readonly body: PushSource<Uint8Array>
}

export interface SendOptions {
  /** In the order of preference; not empty. */
  readonly targets: readonly UpstreamTarget[]
  /** What each is sent is made anew for it: media, limits and parameters differ. */
  readonly prepare: (target: UpstreamTarget) => PreparedRequest
  /** Hears of every call, so that a client that leaves can take back the newest. */
  readonly onCall: (call: UpstreamCall) => void
  readonly isDisconnected: () => boolean
}

export async function sendWithFallback(
  asking: SendOptions,
  ports: Ports<'log' | 'transport'>,
): Promise<RawAnswer> {
  const { targets, isDisconnected } = asking
  let refusal: Error | null = null
  for (const [at, target] of targets.entries()) {
    try {
      const prepared = refusal === null ? asking.prepare(target) : preparedInstead(target, asking)
      return await askOne(prepared, asking, ports)
    } catch (error) {
      if (isDisconnected() || !(error instanceof Error) || !isWorthAnother(error)) throw error
      const isLast = at === targets.length - 1
      const told = { upstream: target.account.name, why: errorMessage(error) }
      ports.log('warn', isLast ? 'upstream-failed' : 'next-upstream', told)
      if (!(error instanceof Unfit)) refusal = error
    }
  }
  throw refusal ?? new GatewayError('model_not_found', 'There is no upstream to ask.')
}

/** The request cannot be made for an upstream that is asked only because another has failed. */
class Unfit extends Error {}

function preparedInstead(target: UpstreamTarget, { prepare }: SendOptions): PreparedRequest {
  try {
    return prepare(target)
  } catch (error) {
    throw error instanceof GatewayError ? new Unfit(error.message, { cause: error }) : error
  }
}

/**
 * An upstream that refuses an optional parameter is asked again without it, if that is wanted; one
 * that refuses reasoning is asked once more without any.
 */
async function askOne(
  first: PreparedRequest,
  asking: SendOptions,
  ports: Ports<'log' | 'transport'>,
): Promise<RawAnswer> {
  let prepared = first
  for (let retries = 0; ; retries += 1) {
    if (asking.isDisconnected()) throw nobodyAsks()
    const call = ports.transport(buildHttpRequest(prepared))
    asking.onCall(call)
    const reply = await call.reply
    if (reply.status >= 200 && reply.status < 300) {
      rejectContentEncoding(call, reply)
      return { prepared, body: getBodySource(call, reply) }
    }
    const refusal = await readErrorReply(call, reply, prepared.provider)
    const lighter = retries < MAX_RETRIES ? lightened(prepared, refusal) : null
    const next = lighter ?? unreasoned(prepared, refusal)
    if (next === null) throw refusal
    if (next !== lighter) {
      ports.log('warn', 'reasoning-refused', { upstream: prepared.account.name })
    }
    prepared = next
  }
}

const MAX_RETRIES = 3

function nobodyAsks(): GatewayError {
  const why = 'The client went away before the upstream was asked.'
  return new GatewayError('upstream_unreachable', why, { status: 499 })
}

function lightened(prepared: PreparedRequest, { failure }: GatewayError): PreparedRequest | null {
  if (prepared.account.quirks['degrade'] !== true) return null
  const encoded = dropRejectedParameters(prepared.encoded, failure)
  if (encoded === null) return null
  const notes = [...prepared.notes, ...encoded.notes.slice(prepared.encoded.notes.length)]
  return { ...prepared, encoded, notes }
}

function unreasoned(prepared: PreparedRequest, { failure }: GatewayError): PreparedRequest | null {
  return prepared.provider.isReasoningRejection?.(failure) === true
    ? prepareRetryWithoutReasoning(prepared)
    : null
}

/** Whatever says something about the upstream and not about the request. */
function isWorthAnother(error: Error): boolean {
  if (error instanceof Unfit) return true
  if (!(error instanceof GatewayError)) return false
  const { status } = error.failure
  return (
    status >= 500 ||
    status === 401 ||
    status === 403 ||
    status === 404 ||
    status === 408 ||
    status === 429
  )
}
