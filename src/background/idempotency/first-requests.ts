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
  /** The client's fields that the model was not given as requested, as in `AnswerContext`. */
  readonly lostFields?: readonly string[]
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

interface FirstRequests {
  /** Returns the registered request; null if there is none, and always on Workers. */
  readonly find: (keyId: string) => FirstRequest | null
  /** Registers a request until it is withdrawn, ends or fails. The key must not be registered. */
  readonly register: (key: HashedKey) => RegisteredRequest
}

export function createFirstRequests(): FirstRequests {
  const byKey = new Map<string, FirstRequest>()
  return {
    find: (keyId) => byKey.get(keyId) ?? null,
    register({ keyId, fingerprint }) {
      const { whenClaimed, registered } = createRequest(() => void byKey.delete(keyId))
      byKey.set(keyId, { fingerprint, whenClaimed, whenEnded: registered.whenEnded })
      return registered
    },
  }
}

/**
 * Creates requests that no other request finds, for Workers: when a client leaves, the code that would end its request
 * may never run there, and other requests would wait for it forever. They poll the database instead.
 */
export function createUnsharedFirstRequests(): FirstRequests {
  return {
    find: () => null,
    register: () => createRequest(() => undefined).registered,
  }
}

function createRequest(remove: () => void) {
  const claimed = Promise.withResolvers<boolean>()
  const ended = Promise.withResolvers<EndedAnswer | null>()
  // Prevents an unhandled rejection if no other request waits.
  ended.promise.catch(() => undefined)
  const registered: RegisteredRequest = {
    whenEnded: ended.promise,
    confirm: () => claimed.resolve(true),
    withdraw() {
      remove()
      claimed.resolve(false)
    },
    end(answer) {
      remove()
      ended.resolve(answer)
    },
    fail(error) {
      remove()
      ended.reject(error)
    },
  }
  return { whenClaimed: claimed.promise, registered }
}
