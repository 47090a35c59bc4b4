/**
 * Registers the first request of each `Idempotency-Key` in this process, so that later requests with the same key can
 * wait for its answer, even if it is not stored.
 */
import type { Outcome } from '../../core/collect-answer-outcome.ts'
import type { AnswerIdentity } from '../../gateway/answer-request.ts'
import type { ActiveRuns } from '../active-runs-and-lease.ts'
import type { HashedKey } from './idempotency-key.ts'

/** A complete answer, from which it can be rendered again. */
export interface EndedAnswer extends AnswerIdentity {
  readonly outcome: Outcome
  readonly endedAtMs: number
}

export interface FirstRequest {
  readonly fingerprint: string
  /** Resolves to false if another process has the key, or if the database failed. */
  readonly whenClaimed: Promise<boolean>
  /**
   * Resolves to the answer, or to null if it must be read from the database. Rejects with the error of the request
   * if it failed before an answer began.
   */
  readonly whenEnded: Promise<EndedAnswer | null>
}

export interface RegisteredRequest extends Pick<FirstRequest, 'whenEnded'> {
  /** Reports that this request has claimed the key. */
  readonly confirm: () => void
  /** Removes the request, because it has not claimed the key. */
  readonly withdraw: () => void
  readonly end: (answer: EndedAnswer | null) => void
  readonly fail: (error: unknown) => void
}

/** The requests that this process is answering. */
export interface RunningRequests {
  readonly activeRuns: ActiveRuns
  readonly firstRequests: FirstRequests
}

type FirstRequests = ReturnType<typeof createFirstRequests>

export function createFirstRequests() {
  const byKey = new Map<string, FirstRequest>()
  return {
    find: (keyId: string): FirstRequest | null => byKey.get(keyId) ?? null,
    /** Registers a request until it is withdrawn, ends or fails. The key must not be registered. */
    register({ keyId, fingerprint }: HashedKey): RegisteredRequest {
      const claimed = Promise.withResolvers<boolean>()
      const ended = Promise.withResolvers<EndedAnswer | null>()
      // Prevents an unhandled rejection if no other request waits.
      ended.promise.catch(() => undefined)
      const whenEnded = ended.promise
      byKey.set(keyId, { fingerprint, whenClaimed: claimed.promise, whenEnded })
      return {
        whenEnded,
        confirm: () => claimed.resolve(true),
        withdraw() {
          byKey.delete(keyId)
          claimed.resolve(false)
        },
        end(answer) {
          byKey.delete(keyId)
          ended.resolve(answer)
        },
        fail(error) {
          byKey.delete(keyId)
          ended.reject(error)
        },
      }
    },
  }
}
