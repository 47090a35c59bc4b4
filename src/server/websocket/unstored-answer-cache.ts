/**
 * What a connection remembers beside the store: of each lane the latest answer that nobody wanted
 * kept. It can be gone on from as if it were stored, but only here, and only until the next.
 *
 * It is laid over the store for one turn at a time. What is stored in the end never points at what
 * is only here: a stored turn that goes on from such an answer takes the whole conversation along.
 */
import { turnIdOfResponse } from '../../core/turn-derived-ids.ts'
import type { Item, Origin } from '../../core/item.ts'
import type { Outcome } from '../../core/fold-answer-outcome.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { NOT_RECORDED } from '../../gateway/record/recorder-interface.ts'
import type { NewTurn, TurnStore, StoredTurn } from '../../store/turns/turn-store-interface.ts'
import type { RecordForConnection } from '../../gateway/record/choose-recorder.ts'

export interface StreamAnswerCache {
  readonly store: TurnStore
  readonly recordForConnection: RecordForConnection
  /** What was asked to go on from there has failed, and must not be gone on from again. */
  readonly evict: (responseId: string | null) => void
}

export interface UnstoredAnswerCache {
  /** Throws a GatewayError above the number of lanes that a connection may have. */
  readonly lane: (name: string | null) => StreamAnswerCache
}

const MAX_LANES = 32

export function createUnstoredAnswerCache(
  store: TurnStore,
  nowMs: () => number,
): UnstoredAnswerCache {
  const latest = new Map<string, StoredTurn | null>()
  const find = (turnId: string | null): StoredTurn | null =>
    turnId === null ? null : ([...latest.values()].find((turn) => turn?.id === turnId) ?? null)
  const evict = (turnId: string | null): void => {
    for (const [lane, turn] of latest) if (turn?.id === turnId) latest.set(lane, null)
  }

  return {
    lane(name) {
      const lane = name ?? ''
      if (!latest.has(lane) && latest.size >= MAX_LANES) throw tooManyLanes()
      if (!latest.has(lane)) latest.set(lane, null)
      let previous: string | null = null
      return {
        store: {
          ...store,
          async loadChain(owner, turnId) {
            const kept = find(turnId)
            return kept === null ? store.loadChain(owner, turnId) : [kept]
          },
          openTurn(turn) {
            previous = turn.parent
            return store.openTurn(selfContained(turn, find(previous)))
          },
          closeTurn(ending) {
            if (ending.state === 'failed') evict(previous)
            else latest.set(lane, null)
            return store.closeTurn(ending)
          },
        },
        recordForConnection: (turn, said) => ({
          ...NOT_RECORDED,
          settle(outcome, ending, { origin }) {
            const isOver = ending === 'finished' && outcome.failure === null
            if (isOver) latest.set(lane, keptTurn(turn, said, outcome, origin(), nowMs()))
            else evict(turn.parent)
            return Promise.resolve(outcome)
          },
        }),
        evict: (responseId) => evict(responseId === null ? null : turnIdOfResponse(responseId)),
      }
    },
  }
}

function selfContained(turn: NewTurn, parent: StoredTurn | null): NewTurn {
  if (parent === null) return turn
  const input = [...parent.input, ...parent.output, ...turn.input]
  return { ...turn, parent: null, depth: 0, input }
}

/** The conversation up to here as one turn, so that nothing else need be remembered. */
function keptTurn(
  turn: NewTurn,
  said: readonly Item[],
  { items, finish, usage, model }: Outcome,
  origin: Origin,
  endedAtMs: number,
): StoredTurn {
  return {
    ...turn,
    parent: null,
    depth: 0,
    metadata: turn.metadata ?? null,
    digests: {},
    deletedAtMs: null,
    state: finish === 'stop' ? 'complete' : 'incomplete',
    endedAtMs,
    origin,
    usage,
    failure: null,
    finish: finish,
    servedModel: model,
    contentHash: null,
    reasoningRefusedBy: null,
    usedAtMs: endedAtMs,
    input: said,
    output: items.map((item) => ({ ...item, origin })),
    hidden: new Set(),
  }
}

function tooManyLanes(): GatewayError {
  return new GatewayError(
    'websocket_stream_limit_reached',
    `A connection can have at most ${MAX_LANES} values of 'stream_id'. Use one of those, or another connection.`,
    { param: 'stream_id' },
  )
}
