/**
 * Limits the total time of a request: when it is over, the current upstream call is canceled, and it and all
 * later calls fail. The answer then ends like that of an upstream that broke off. Everything else that a
 * request waits for, e.g. the database, has a shorter limit of its own.
 */
import { createFailure, GatewayError } from '../../core/errors/gateway-error.ts'
import type { Failure } from '../../core/stream-event.ts'
import { MaybeProcessedError, type Transport, type UpstreamReply } from './transport-interface.ts'

export interface TimeLimit {
  /** Start of the request, as a time of `performance.now()`. */
  readonly startedAtMs: number
  /** Null for no limit. */
  readonly seconds: number | null
  readonly code: 'answer_timeout' | 'run_timeout'
}

export function limitTransportTime(
  transport: Transport,
  { startedAtMs, seconds, code }: TimeLimit,
): Transport {
  if (seconds === null) return transport
  const timeoutFailure = createTimeoutFailure(seconds, code)
  return (request) => {
    const remainingMs = startedAtMs + seconds * 1000 - performance.now()
    if (remainingMs <= 0)
      return { reply: Promise.reject(new GatewayError(timeoutFailure)), cancel: () => undefined }
    const call = transport(request)
    let isTimedOut = false
    const timer = setTimeout(() => {
      isTimedOut = true
      call.cancel()
    }, remainingMs)
    const limitBody = (reply: UpstreamReply): UpstreamReply => ({
      ...reply,
      flow: (sink) =>
        reply.flow({
          chunk: sink.chunk,
          end() {
            clearTimeout(timer)
            sink.end()
          },
          failed(failure) {
            clearTimeout(timer)
            sink.failed(isTimedOut ? timeoutFailure : failure)
          },
        }),
    })
    return {
      reply: call.reply.then(limitBody, (error: unknown) => {
        clearTimeout(timer)
        if (!isTimedOut) throw error
        throw error instanceof MaybeProcessedError
          ? new MaybeProcessedError(timeoutFailure)
          : new GatewayError(timeoutFailure)
      }),
      cancel() {
        clearTimeout(timer)
        call.cancel()
      },
    }
  }
}

function createTimeoutFailure(seconds: number, code: TimeLimit['code']): Failure {
  const [subject, setting] =
    code === 'run_timeout'
      ? ['background response', 'BACKGROUND_TIMEOUT_SECONDS']
      : ['request', 'REQUEST_TIMEOUT_SECONDS']
  return createFailure(
    code,
    `This ${subject} took longer than the ${seconds} seconds that it may take in all (${setting}).`,
  )
}
