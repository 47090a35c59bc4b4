/**
 * Limits the memory that requests in progress take, on Node all together, on Workers each alone. A request claims memory for its
 * body and for the history that it loads, before they are parsed or loaded. If too little is free, it is
 * rejected, so that no number of large requests can end the process.
 */
import { GatewayError } from '../core/errors/gateway-error.ts'
import { MAX_STEP_CHARS } from '../core/async/max-step-chars.ts'
import { yieldToEventLoop } from '../core/async/yield-to-event-loop.ts'
import type { ClaimMemory } from '../core/ports/claim-memory.ts'

export interface MemoryBudget {
  /** Starts to count the memory of one request of the tenant. */
  readonly trackRequest: (tenant: string) => RequestMemory
}

export interface RequestMemory {
  /**
   * Reserves memory for JSON until `release` or `close` is called. Throws a GatewayError if the process, the tenant or
   * the request has too little memory left, and an Error after `close`.
   */
  readonly claim: ClaimMemory
  readonly claimedBytes: () => number
  /** Frees the memory that is claimed so far. The request may claim more afterwards. */
  readonly release: () => void
  /**
   * Frees the memory when the request has ended. A query that outlives the request, because nobody waited for it any
   * longer, can then claim nothing more, which nobody would free.
   */
  readonly close: () => void
}

export interface MemoryLimits {
  readonly totalBytes: number
  readonly bytesPerTenant: number
}

/**
 * Estimated memory for each byte of JSON: the text, its parsed strings, the request to the upstream and the rows
 * for the database exist at the same time.
 */
const MEMORY_PER_BYTE = 5

/** Estimated memory for each JSON value, in addition to its text: a string object, its place in a list or object. */
const MEMORY_PER_VALUE = 400

export function createMemoryBudget({ totalBytes, bytesPerTenant }: MemoryLimits): MemoryBudget {
  const claimedByTenant = new Map<string, number>()
  let claimedByAll = 0
  return {
    trackRequest(tenant) {
      let claimed = 0
      let isClosed = false
      const release = (): void => {
        claimedByAll -= claimed
        const ofTenant = (claimedByTenant.get(tenant) ?? 0) - claimed
        if (ofTenant === 0) claimedByTenant.delete(tenant)
        else claimedByTenant.set(tenant, ofTenant)
        claimed = 0
      }
      return {
        claim({ bytes, values }) {
          if (isClosed) throw new Error('The request has ended, so it can load nothing more.')
          const needed = estimateMemory(bytes, values)
          const ofTenant = claimedByTenant.get(tenant) ?? 0
          // The only large request in progress is always accepted, even if it needs more than the limit.
          if (claimedByAll > claimed && claimedByAll + needed > totalBytes)
            throw createProcessError()
          if (ofTenant > claimed && ofTenant + needed > bytesPerTenant) throw createTenantError()
          claimed += needed
          claimedByAll += needed
          claimedByTenant.set(tenant, ofTenant + needed)
        },
        claimedBytes: () => claimed,
        release,
        close() {
          isClosed = true
          release()
        },
      }
    },
  }
}

/**
 * Limits each request alone, for Workers: when a client leaves, the code that would release the memory of its request
 * may never run there. What requests share, e.g. a sum of their memory, would therefore never become free again.
 */
export function createBudgetOfEachRequest(maxBytes: number): MemoryBudget {
  return {
    trackRequest() {
      let claimed = 0
      const release = (): void => void (claimed = 0)
      return {
        claim({ bytes, values }) {
          const needed = estimateMemory(bytes, values)
          if (claimed + needed > maxBytes) throw createRequestError()
          claimed += needed
        },
        claimedBytes: () => claimed,
        release,
        close: release,
      }
    },
  }
}

function estimateMemory(bytes: number, values = 0): number {
  return bytes * MEMORY_PER_BYTE + values * MEMORY_PER_VALUE
}

/** Lets other requests proceed before the next step of a large request; returns at once for a small one. */
export async function yieldIfLarge({ claimedBytes }: RequestMemory): Promise<void> {
  if (claimedBytes() >= LARGE_REQUEST_BYTES) await yieldToEventLoop()
}

/** The estimated memory of a body that is too long for one step. */
const LARGE_REQUEST_BYTES = MAX_STEP_CHARS * MEMORY_PER_BYTE

/** The error of a request for which too little memory is free. */
export class RequestMemoryError extends GatewayError {}

/** `connection: close`, because a part of the body may be unread. */
const RETRY_HEADERS = { 'retry-after': '2', connection: 'close' }

function createProcessError(): RequestMemoryError {
  return new RequestMemoryError(
    'overloaded',
    'The gateway is working on as many large requests as its memory allows (REQUEST_MEMORY_MB). Try again in a moment.',
    { headers: RETRY_HEADERS },
  )
}

function createTenantError(): RequestMemoryError {
  return new RequestMemoryError(
    'rate_limit_exceeded',
    'Your API key has as many large requests in progress as the memory of the gateway allows for one key. Try again when one of them has ended.',
    { headers: RETRY_HEADERS },
  )
}

/** `x-should-retry: false`, because the same request would be rejected again. */
function createRequestError(): RequestMemoryError {
  return new RequestMemoryError(
    'overloaded',
    'The body of this request and the history that it continues need more memory than one request may take (REQUEST_MEMORY_MB). Send less, or start a new conversation.',
    { headers: { 'x-should-retry': 'false' } },
  )
}
