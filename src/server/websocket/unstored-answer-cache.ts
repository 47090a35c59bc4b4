/**
 * Caches the latest answer of each stream of a connection (the requests with the same `stream_id`)
 * if it has `store: false`. The next request on this connection may continue the answer with
 * `previous_response_id`, as if it were stored.
 *
 * Wraps the turn store, for one request at a time. A stored turn never refers to a cached turn as
 * its parent: its input then contains the complete conversation instead.
 *
 * Cached conversations count as memory of requests. An answer for which too little memory is left is not cached.
 */
import { turnIdOfResponse } from '../../core/turn-derived-ids.ts'
import type { Item, Origin } from '../../core/item.ts'
import type { Outcome } from '../../core/collect-answer-outcome.ts'
import { errorMessage, GatewayError } from '../../core/errors/gateway-error.ts'
import type { JsonSize } from '../../core/ports/claim-memory.ts'
import type { Log } from '../../core/ports/log-interface.ts'
import type { RequestMemory } from '../../gateway/request-memory.ts'
import { convertNewToStoredTurn } from '../convert-new-to-stored-turn.ts'
import { NOT_RECORDED } from '../../gateway/record/recorder-interface.ts'
import type { NewTurn, TurnStore, StoredTurn } from '../../store/turns/turn-store-interface.ts'
import type { RecordForConnection } from '../../gateway/record/choose-recorder.ts'

export interface StreamAnswerCache {
  readonly store: TurnStore
  readonly recordForConnection: RecordForConnection
  /** Removes the answer with this id. Called when a request that continues it has failed. */
  readonly evict: (responseId: string | null) => void
}

export interface UnstoredAnswerCache {
  /**
   * Returns the cache for the requests with this `stream_id`; `null` is for requests without one.
   * Throws a GatewayError if the connection already has 32 other streams.
   */
  readonly openStream: (streamId: string | null) => StreamAnswerCache
  /** Removes all answers, and caches no further ones. Must be called when the connection ends. */
  readonly close: () => void
}

interface CacheOptions {
  readonly store: TurnStore
  readonly nowMs: () => number
  /** Starts to count the memory of a cached answer. */
  readonly trackMemory: () => RequestMemory
  readonly log: Log
}

interface CachedTurn {
  readonly turn: StoredTurn
  readonly memory: RequestMemory
}

const MAX_STREAMS = 32

export function createUnstoredAnswerCache({
  store,
  nowMs,
  trackMemory,
  log,
}: CacheOptions): UnstoredAnswerCache {
  const latest = new Map<string, CachedTurn | null>()
  let isClosed = false
  const find = (turnId: string | null): StoredTurn | null =>
    [...latest.values()].find((cached) => cached?.turn.id === turnId)?.turn ?? null
  const clear = (stream: string): void => {
    latest.get(stream)?.memory.close()
    latest.set(stream, null)
  }
  const evict = (turnId: string | null): void => {
    for (const [stream, cached] of latest) if (cached?.turn.id === turnId) clear(stream)
  }
  const replace = (stream: string, turn: StoredTurn): void => {
    clear(stream)
    if (isClosed) return
    const memory = trackMemory()
    try {
      claimTurnMemory(turn, memory)
      latest.set(stream, { turn, memory })
    } catch (error) {
      memory.close()
      log('info', 'answer-not-cached', { turn: turn.id, why: errorMessage(error) })
    }
  }

  return {
    openStream(streamId) {
      const stream = streamId ?? ''
      if (!latest.has(stream) && latest.size >= MAX_STREAMS) throw createTooManyStreamsError()
      if (!latest.has(stream)) latest.set(stream, null)
      let previous: string | null = null
      return {
        store: {
          ...store,
          async loadChain(owner, turnId, options) {
            const cached = find(turnId)
            return cached === null ? store.loadChain(owner, turnId, options) : [cached]
          },
          openTurn(turn) {
            previous = turn.parent
            return store.openTurn(includeParentItems(turn, find(previous)))
          },
          closeTurn(ending) {
            if (ending.state === 'failed') evict(previous)
            else clear(stream)
            return store.closeTurn(ending)
          },
        },
        recordForConnection: (turn, conversation) => ({
          ...NOT_RECORDED,
          settle(outcome, ending, { origin }) {
            if (ending !== 'finished' || outcome.failure !== null) evict(turn.parent)
            else replace(stream, createCachedTurn(turn, conversation, outcome, origin(), nowMs()))
            return Promise.resolve(outcome)
          },
        }),
        evict: (responseId) => evict(responseId === null ? null : turnIdOfResponse(responseId)),
      }
    },
    close() {
      isClosed = true
      for (const stream of latest.keys()) clear(stream)
    },
  }
}

/** Claims the memory of a cached turn, unless it is small. Throws a GatewayError if too little memory is left. */
function claimTurnMemory(turn: StoredTurn, memory: RequestMemory): void {
  const size = estimateJsonSize(turn)
  if (size.bytes >= MIN_COUNTED_BYTES || size.values >= MIN_COUNTED_VALUES) memory.claim(size)
}

/** Smaller turns are not counted, like smaller requests. */
const MIN_COUNTED_BYTES = 16_384
const MIN_COUNTED_VALUES = 1_000

/** Adds up the lengths of all texts, which takes much less time than serializing them. */
function estimateJsonSize(value: unknown): Required<JsonSize> {
  if (typeof value === 'string') return { bytes: value.length, values: 1 }
  if (typeof value !== 'object' || value === null) return { bytes: 0, values: 1 }
  let bytes = 0
  let values = 1
  for (const [key, member] of Object.entries(value)) {
    const size = estimateJsonSize(member)
    bytes += key.length + size.bytes
    values += size.values
  }
  return { bytes, values }
}

function includeParentItems(turn: NewTurn, parent: StoredTurn | null): NewTurn {
  if (parent === null) return turn
  const input = [...parent.input, ...parent.output, ...turn.input]
  return { ...turn, parent: null, depth: 0, input }
}

/**
 * Creates one turn that contains the complete conversation, so that the turns before it need not be
 * cached.
 */
function createCachedTurn(
  turn: NewTurn,
  conversation: readonly Item[],
  { items, finish, usage, model }: Outcome,
  origin: Origin,
  endedAtMs: number,
): StoredTurn {
  return convertNewToStoredTurn(turn, endedAtMs, {
    parent: null,
    depth: 0,
    state: finish === 'stop' ? 'complete' : 'incomplete',
    origin,
    usage,
    finish,
    servedModel: model,
    input: conversation,
    output: items.map((item) => ({ ...item, origin })),
  })
}

function createTooManyStreamsError(): GatewayError {
  const message = `A connection can have at most ${MAX_STREAMS} values of 'stream_id'. Use one of those, or another connection.`
  return new GatewayError('websocket_stream_limit_reached', message, { param: 'stream_id' })
}
