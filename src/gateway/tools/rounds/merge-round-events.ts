/**
 * Makes one answer of several: a model that calls tools of the house is asked again with their outputs,
 * and whoever hears of the answer hears of one, from one beginning to one end, with everything that was
 * said and done in its true order. By their badges it is told who is of the house (`assign-round-item-ids.ts`).
 *
 * It holds back the end of a round in which the house was called, until somebody says how it goes on.
 */
import { isGatewayToolItem } from '../../../core/items/gateway-tool-items.ts'
import type {
  AnswerEnded,
  AnswerFailed,
  Failure,
  StreamEvent,
  TokenUsage,
} from '../../../core/stream-event.ts'
import type { FunctionCall, FunctionCallOutput, Item } from '../../../core/item.ts'
import { callEndOf } from '../../../core/items/tool-call-pairs.ts'
import { addTokenUsage } from '../../../core/stream/add-token-usage.ts'
import {
  createRoundItemIdAssigner,
  UNCHANGED_ROUND_ITEM_IDS,
  applyRoundItemIds,
  type RoundItemIds,
} from './assign-round-item-ids.ts'

export interface RoundEventMerger {
  /** What an upstream says in this round. */
  readonly hear: (events: readonly StreamEvent[]) => readonly StreamEvent[]
  /** What this round has come to; `null` while it is not over, or the answer is. */
  readonly held: () => FinishedRound | null
  /** The outputs of the calls of the house. */
  readonly put: (outputs: readonly FunctionCallOutput[]) => readonly StreamEvent[]
  /** From here on another round is heard, in which these may be called as well. */
  readonly next: (names?: Iterable<string>) => void
  /** The end of the answer, as the round has it that was held. */
  readonly end: () => readonly StreamEvent[]
  readonly fail: (failure: Failure) => readonly StreamEvent[]
  readonly isOver: () => boolean
}

export interface FinishedRound {
  /** All that was said in it. */
  readonly said: readonly Item[]
  readonly houseCalls: readonly FunctionCall[]
  /** Whether it calls something that is not of the house, too. */
  readonly callsOthers: boolean
  readonly finish: AnswerEnded['finish']
  /** What this round alone has cost. */
  readonly usage: TokenUsage | null
}

/** `before` is what was said before the answer. Of its call ids none is taken for a call of the house. */
export function createRoundEventMerger(
  turnId: string,
  names: Iterable<string>,
  before: readonly Item[] = [],
): RoundEventMerger {
  const badges = createRoundItemIdAssigner(turnId, names, before)
  let isBegun = false
  let isOver = false
  let usage: TokenUsage | null = null
  let base = 0
  let count = 0
  let said: Item[] = []
  let worn = new Map<number, RoundItemIds>()
  let ending: AnswerEnded | null = null

  const start = (event: Extract<StreamEvent, { type: 'item-started' }>): StreamEvent => {
    const index = base + event.index
    count = Math.max(count, index + 1)
    const badge = badges.badgeOf(event.item, index)
    worn.set(event.index, badge)
    return moved(event, index, applyRoundItemIds(event.item, badge))
  }
  const finish = (event: Extract<StreamEvent, { type: 'item-ended' }>): StreamEvent => {
    const item = applyRoundItemIds(event.item, worn.get(event.index) ?? UNCHANGED_ROUND_ITEM_IDS)
    said[event.index] = item
    return moved(event, base + event.index, item)
  }
  const close = (event: AnswerEnded | AnswerFailed): readonly StreamEvent[] => {
    usage = together(usage, event.usage ?? null)
    if (event.type === 'answer-ended' && said.some(isGatewayToolItem)) {
      ending = event
      return []
    }
    isOver = true
    return [{ ...event, usage }]
  }
  const one = (event: StreamEvent): readonly StreamEvent[] => {
    if (isOver || ending !== null) return []
    switch (event.type) {
      case 'answer-started': {
        const isFirst = !isBegun
        isBegun = true
        return isFirst ? [event] : []
      }
      case 'answer-ended':
      case 'answer-failed':
        return close(event)
      case 'item-started':
        return [start(event)]
      case 'item-ended':
        return [finish(event)]
      default:
        return [base === 0 ? event : { ...event, index: base + event.index }]
    }
  }

  return {
    hear: (events) => events.flatMap(one),
    held() {
      if (ending === null || isOver) return null
      const whole = said.filter((item) => item !== undefined)
      const ours = whole.filter(isGatewayToolItem)
      return {
        said: whole,
        houseCalls: ours.filter((item) => item.type === 'function_call'),
        callsOthers: whole.some(
          (item) => !isGatewayToolItem(item) && callEndOf(item)?.side === 'call',
        ),
        finish: ending.finish,
        usage: ending.usage ?? null,
      }
    },
    put: (outputs) =>
      outputs.flatMap((item): readonly StreamEvent[] => {
        const index = count
        count += 1
        return [
          { type: 'item-started', index, item },
          { type: 'item-ended', index, item },
        ]
      }),
    next(others = []) {
      badges.admit(others)
      base = count
      said = []
      worn = new Map()
      ending = null
    },
    end() {
      if (ending === null || isOver) return []
      isOver = true
      return [{ ...ending, usage }]
    },
    fail(failure) {
      if (isOver) return []
      isOver = true
      const failed: StreamEvent = { type: 'answer-failed', failure, usage }
      return isBegun
        ? [failed]
        : [{ type: 'answer-started', upstreamId: null, model: null }, failed]
    },
    isOver: () => isOver,
  }
}

function moved<Event extends Extract<StreamEvent, { type: 'item-started' | 'item-ended' }>>(
  event: Event,
  index: number,
  item: Item,
): Event {
  return index === event.index && item === event.item ? event : { ...event, index, item }
}

/** All of it is paid for, and what the conversation has come to is what the newest of them says. */
function together(all: TokenUsage | null, more: TokenUsage | null): TokenUsage | null {
  if (all === null || more === null) return more ?? all
  return { ...addTokenUsage(all, more), newestTokens: more.totalTokens }
}
