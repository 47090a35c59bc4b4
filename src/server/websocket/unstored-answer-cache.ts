/**
 * Caches the latest answer of each stream of a connection (the requests with the same `stream_id`)
 * if it has `store: false`. The next request on this connection may continue the answer with
 * `previous_response_id`, as if it were stored.
 *
 * Wraps the turn store, for one request at a time. A stored turn never refers to a cached turn as
 * its parent: its input then contains the complete conversation instead.
 */
import { turnIdOfResponse } from '../../core/turn-derived-ids.ts'
import type { Item, Origin } from '../../core/item.ts'
import type { Outcome } from '../../core/collect-answer-outcome.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
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
}

const MAX_STREAMS = 32

export function createUnstoredAnswerCache(
  store: TurnStore,
  nowMs: () => number,
): UnstoredAnswerCache {
  const latest = new Map<string, StoredTurn | null>()
  const find = (turnId: string | null): StoredTurn | null =>
    turnId === null ? null : ([...latest.values()].find((turn) => turn?.id === turnId) ?? null)
  const evict = (turnId: string | null): void => {
    for (const [stream, turn] of latest) if (turn?.id === turnId) latest.set(stream, null)
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
            else latest.set(stream, null)
            return store.closeTurn(ending)
          },
        },
        recordForConnection: (turn, conversation) => ({
          ...NOT_RECORDED,
          settle(outcome, ending, { origin }) {
            if (ending !== 'finished' || outcome.failure !== null) evict(turn.parent)
            else
              latest.set(stream, createCachedTurn(turn, conversation, outcome, origin(), nowMs()))
            return Promise.resolve(outcome)
          },
        }),
        evict: (responseId) => evict(responseId === null ? null : turnIdOfResponse(responseId)),
      }
    },
  }
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
