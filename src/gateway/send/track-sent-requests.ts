/**
 * Tracks the upstream requests of one client request, to decide whether the client request may be sent again after it
 * has failed. That is allowed only if it is certain that no upstream has processed it.
 */
import {
  isProxyTimeout,
  MaybeProcessedError,
  type Transport,
} from '../../upstream/transport/transport-interface.ts'

export interface SentRequests {
  /** The transport to use for the client request. */
  readonly transport: Transport
  /**
   * True if an upstream accepted the latest request, or may have processed one of the requests without an answer.
   * An accepted request that another one followed does not count, e.g. one for a summary, whose result is stored.
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
          if (!isProxyTimeout(status)) unknown -= 1
          isLatestAccepted = status < 300
        },
        (error: unknown) => {
          if (!(error instanceof MaybeProcessedError)) unknown -= 1
        },
      )
      return call
    },
    mayBeProcessed: () => unknown > 0 || isLatestAccepted,
  }
}
