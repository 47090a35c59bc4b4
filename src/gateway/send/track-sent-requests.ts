/**
 * Tracks the upstream requests of one client request, to decide whether the client request may be sent again after it
 * has failed. That is allowed only if it is certain that no upstream has processed it.
 */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Transport } from '../../upstream/transport/transport-interface.ts'

export interface SentRequests {
  /** The transport to use for the client request. */
  readonly transport: Transport
  /**
   * True if an upstream accepted the latest request, or if it is unknown what happened to one of the requests. An
   * accepted request that others followed does not count, e.g. one for a summary, whose result is stored.
   */
  readonly mayBeProcessed: () => boolean
}

export function trackSentRequests(transport: Transport): SentRequests {
  let unknown = 0
  let isLatestAccepted = false
  return {
    transport(request) {
      const call = transport(request)
      unknown += 1
      isLatestAccepted = false
      call.reply.then(
        ({ status }) => {
          unknown -= 1
          isLatestAccepted = status < 300
        },
        (error: unknown) => {
          if (wasNeverSent(error)) unknown -= 1
        },
      )
      return call
    },
    mayBeProcessed: () => unknown > 0 || isLatestAccepted,
  }
}

/** True if the error means that no connection to the upstream was opened. */
function wasNeverSent(error: unknown): boolean {
  if (!(error instanceof GatewayError) || !(error.cause instanceof Error)) return false
  const { cause } = error
  return 'code' in cause && NOT_CONNECTED_CODES.has(cause.code)
}

const NOT_CONNECTED_CODES: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_INVALID_ARG',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])
