/**
 * Sends a request to the configured upstreams, one after the other, until one starts to answer. The client
 * does not see failed attempts.
 *
 * No request is executed twice: the next upstream is tried only if the one before certainly did not answer the
 * request: it was not reached, rejected the request with a status, or answered with status 200 and no content. If
 * the connection broke, or no answer came in time, the upstream may have processed the request, and the client gets
 * the error. Nor is another upstream tried after an answer has begun.
 */
import { GatewayError, errorMessage } from '../../core/errors/gateway-error.ts'
import type { Failure } from '../../core/stream-event.ts'
import type { PushSource } from '../../core/stream/push-source-interface.ts'
import { dropRejectedParameters } from '../../providers/request/drop-rejected-parameters.ts'
import type { UpstreamTarget } from '../../upstream/accounts-and-model-routing.ts'
import {
  createBodySource,
  readErrorReply,
  rejectContentEncoding,
} from '../../upstream/transport/read-complete-reply.ts'
import {
  isProxyTimeout,
  MaybeProcessedError,
  type UpstreamCall,
} from '../../upstream/transport/transport-interface.ts'
import type { Ports } from '../dependencies-interface.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import { buildHttpRequest, serializeLargeBody } from './build-http-request.ts'
import { decodeAnswerBody } from './decode-answer-body.ts'
import { prepareRetryWithoutAddedParameter } from './prepare-retry-without-added-parameter.ts'
import { prepareRetryWithoutReasoning } from './prepare-retry-without-reasoning.ts'
import { waitForContent } from './wait-for-content.ts'

export interface RawAnswer {
  readonly prepared: PreparedRequest
  /** The undecoded body of the answer. */
  readonly body: PushSource<Uint8Array>
}

export interface SendOptions {
  /** The upstreams to try, at least one; the preferred upstream is the first. */
  readonly targets: readonly UpstreamTarget[]
  /** Prepares the request for a target. Upstreams differ in media, limits and parameters. */
  readonly prepare: (target: UpstreamTarget) => PreparedRequest
  /** Called with each upstream call, so that it can be cancelled when the client disconnects. */
  readonly onCall: (call: UpstreamCall) => void
  readonly isDisconnected: () => boolean
}

type SendPorts = Ports<'log' | 'settings' | 'transport' | 'upstreamKnowledge'>

export async function sendWithFallback(options: SendOptions, ports: SendPorts): Promise<RawAnswer> {
  const { targets, isDisconnected, prepare } = options
  let rejection: Error | null = null
  for (const [index, target] of targets.entries()) {
    const isLast = index === targets.length - 1
    try {
      const prepared = rejection === null ? prepare(target) : prepareForFallback(target, prepare)
      const answer = await sendToTarget(prepared, options, ports)
      return isLast ? answer : await holdUntilContent(answer, ports)
    } catch (error) {
      if (isDisconnected() || !(error instanceof Error) || !isUpstreamFault(error)) throw error
      const isFinal = isLast || error instanceof MaybeProcessedError
      const fields = { upstream: target.account.name, why: errorMessage(error) }
      ports.log('warn', isFinal ? 'upstream-failed' : 'next-upstream', fields)
      if (error instanceof MaybeProcessedError) throw error
      if (!(error instanceof UnfitTarget)) rejection = error
    }
  }
  throw rejection ?? new GatewayError('model_not_found', 'There is no upstream to ask.')
}

/**
 * Thrown if the request cannot be prepared for a fallback upstream. The client gets the error of the
 * upstream that was tried before.
 */
class UnfitTarget extends Error {}

function prepareForFallback(
  target: UpstreamTarget,
  prepare: SendOptions['prepare'],
): PreparedRequest {
  try {
    return prepare(target)
  } catch (error) {
    throw error instanceof GatewayError ? new UnfitTarget(error.message, { cause: error }) : error
  }
}

/**
 * Sends the request to one upstream. If the upstream rejects a parameter that the gateway added, sends the
 * request with its next value, or without it. With the quirk `degrade`, if the upstream rejects an optional
 * parameter, sends the request again without it, at most 3 times. If the upstream rejects the reasoning,
 * sends the request once without reasoning.
 */
async function sendToTarget(
  first: PreparedRequest,
  { isDisconnected, onCall }: SendOptions,
  ports: SendPorts,
): Promise<RawAnswer> {
  let prepared = first
  for (let retries = 0; ; retries += 1) {
    await serializeLargeBody(prepared)
    if (isDisconnected()) {
      const message = 'The client disconnected before the request was sent to an upstream.'
      throw new GatewayError('upstream_unreachable', message, { status: 499 })
    }
    const call = ports.transport(buildHttpRequest(prepared))
    onCall(call)
    const reply = await call.reply
    if (reply.status >= 200 && reply.status < 300) {
      rejectContentEncoding(call, reply)
      return { prepared, body: createBodySource(call, reply) }
    }
    const { reported, error } = await readErrorReply(call, reply, prepared.account)
    const reduced =
      prepareRetryWithoutAddedParameter(prepared, reported, ports) ??
      (retries < MAX_RETRIES ? retryWithoutParameter(prepared, reported) : null)
    const next = reduced ?? retryWithoutReasoning(prepared, reported)
    if (next === null) throw isProxyTimeout(reply.status) ? asMaybeProcessed(error) : error
    if (next !== reduced) {
      ports.log('warn', 'reasoning-refused', { upstream: prepared.account.name })
    }
    prepared = next
  }
}

const MAX_RETRIES = 3

/**
 * Holds an answer back until it has content, so that the next upstream can be tried if it has none. A stream is held
 * back no longer than until its first heartbeat is due.
 */
async function holdUntilContent(
  { prepared, body }: RawAnswer,
  { settings }: Ports<'settings'>,
): Promise<RawAnswer> {
  const maxWaitMs = prepared.clientRequest.stream ? settings.HEARTBEAT_SECONDS * 1000 : Infinity
  return { prepared, body: await waitForContent(body, decodeAnswerBody(prepared), maxWaitMs) }
}

function retryWithoutParameter(
  prepared: PreparedRequest,
  reported: Failure,
): PreparedRequest | null {
  if (prepared.account.quirks['degrade'] !== true) return null
  const encoded = dropRejectedParameters(prepared.encoded, reported)
  if (encoded === null) return null
  const notes = [...prepared.notes, ...encoded.notes.slice(prepared.encoded.notes.length)]
  return { ...prepared, encoded, notes }
}

function retryWithoutReasoning(
  prepared: PreparedRequest,
  reported: Failure,
): PreparedRequest | null {
  return prepared.provider.isReasoningRejection?.(reported) === true
    ? prepareRetryWithoutReasoning(prepared)
    : null
}

function asMaybeProcessed(rejection: GatewayError): MaybeProcessedError {
  const { failure, message, headers } = rejection
  return new MaybeProcessedError(failure, message, { headers, cause: rejection })
}

/**
 * True if the error is due to the upstream or its account rather than to the request, so that another
 * upstream may succeed.
 */
function isUpstreamFault(error: Error): boolean {
  if (error instanceof UnfitTarget) return true
  if (!(error instanceof GatewayError)) return false
  const { status } = error.failure
  return status >= 500 || UPSTREAM_FAULTS.includes(status)
}

/**
 * HTTP statuses below 500 that are due to the upstream or its account: moderation (403), unknown model
 * (404), timeout (408), rate limit (429).
 */
const UPSTREAM_FAULTS: readonly number[] = [403, 404, 408, 429]
