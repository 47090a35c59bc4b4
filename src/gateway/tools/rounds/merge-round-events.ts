/**
 * Merges the events of several tool rounds into those of one answer, with one start, one end, and the items of all
 * rounds in order, including the outputs of gateway tools. The items get unique ids (`assign-round-item-ids.ts`).
 *
 * The end of a round with gateway calls is held back until the caller starts the next round or ends the answer.
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
  /** Converts the upstream's events of the current round. */
  readonly pushEvents: (events: readonly StreamEvent[]) => readonly StreamEvent[]
  /** Returns the current round if it ended with gateway calls; null before, or if the answer is over. */
  readonly getFinishedRound: () => FinishedRound | null
  /** Adds the outputs of the gateway calls. */
  readonly addOutputs: (outputs: readonly FunctionCallOutput[]) => readonly StreamEvent[]
  /** Starts the next round; `toolNames` are the gateway tools that it may call in addition. */
  readonly startNextRound: (toolNames?: Iterable<string>) => void
  /** Ends the answer with the ending that was held back. */
  readonly end: () => readonly StreamEvent[]
  readonly fail: (failure: Failure) => readonly StreamEvent[]
  readonly isOver: () => boolean
}

export interface FinishedRound {
  readonly modelItems: readonly Item[]
  readonly gatewayCalls: readonly FunctionCall[]
  /** True if the round also calls tools of the client. */
  readonly hasClientCalls: boolean
  readonly finish: AnswerEnded['finish']
  /** The usage of this round alone. */
  readonly usage: TokenUsage | null
}

/** Creates the merger of one answer. Call ids in `before`, the items before the answer, are not used again. */
export function createRoundEventMerger(
  turnId: string,
  toolNames: Iterable<string>,
  before: readonly Item[] = [],
): RoundEventMerger {
  const idAssigner = createRoundItemIdAssigner(turnId, toolNames, before)
  let hasStarted = false
  let isOver = false
  let usage: TokenUsage | null = null
  /** Number of items before the current round. */
  let indexOffset = 0
  let itemCount = 0
  let endedItems: Item[] = []
  let assignedIds = new Map<number, RoundItemIds>()
  let heldEnding: AnswerEnded | null = null

  const startItem = (event: Extract<StreamEvent, { type: 'item-started' }>): StreamEvent => {
    const index = indexOffset + event.index
    itemCount = Math.max(itemCount, index + 1)
    const ids = idAssigner.assignIds(event.item, index)
    assignedIds.set(event.index, ids)
    return replaceIndexAndItem(event, index, applyRoundItemIds(event.item, ids))
  }
  const endItem = (event: Extract<StreamEvent, { type: 'item-ended' }>): StreamEvent => {
    const ids = assignedIds.get(event.index) ?? UNCHANGED_ROUND_ITEM_IDS
    const item = applyRoundItemIds(event.item, ids)
    endedItems[event.index] = item
    return replaceIndexAndItem(event, indexOffset + event.index, item)
  }
  const endRound = (event: AnswerEnded | AnswerFailed): readonly StreamEvent[] => {
    usage = addRoundUsage(usage, event.usage ?? null)
    if (event.type === 'answer-ended' && endedItems.some(isGatewayToolItem)) {
      heldEnding = event
      return []
    }
    isOver = true
    return [{ ...event, usage }]
  }
  const convertEvent = (event: StreamEvent): readonly StreamEvent[] => {
    if (isOver || heldEnding !== null) return []
    switch (event.type) {
      case 'answer-started': {
        const isFirst = !hasStarted
        hasStarted = true
        return isFirst ? [event] : []
      }
      case 'answer-ended':
      case 'answer-failed':
        return endRound(event)
      case 'item-started':
        return [startItem(event)]
      case 'item-ended':
        return [endItem(event)]
      default:
        return [indexOffset === 0 ? event : { ...event, index: indexOffset + event.index }]
    }
  }

  return {
    pushEvents: (events) => events.flatMap(convertEvent),
    getFinishedRound() {
      if (heldEnding === null || isOver) return null
      const modelItems = endedItems.filter((item) => item !== undefined)
      return {
        modelItems,
        gatewayCalls: modelItems
          .filter(isGatewayToolItem)
          .filter((item) => item.type === 'function_call'),
        hasClientCalls: modelItems.some(
          (item) => !isGatewayToolItem(item) && callEndOf(item)?.side === 'call',
        ),
        finish: heldEnding.finish,
        usage: heldEnding.usage ?? null,
      }
    },
    addOutputs: (outputs) =>
      outputs.flatMap((item): readonly StreamEvent[] => {
        const index = itemCount
        itemCount += 1
        return [
          { type: 'item-started', index, item },
          { type: 'item-ended', index, item },
        ]
      }),
    startNextRound(addedNames = []) {
      idAssigner.addToolNames(addedNames)
      indexOffset = itemCount
      endedItems = []
      assignedIds = new Map()
      heldEnding = null
    },
    end() {
      if (heldEnding === null || isOver) return []
      isOver = true
      return [{ ...heldEnding, usage }]
    },
    fail(failure) {
      if (isOver) return []
      isOver = true
      const failed: StreamEvent = { type: 'answer-failed', failure, usage }
      return hasStarted
        ? [failed]
        : [{ type: 'answer-started', upstreamId: null, model: null }, failed]
    },
    isOver: () => isOver,
  }
}

function replaceIndexAndItem<
  Event extends Extract<StreamEvent, { type: 'item-started' | 'item-ended' }>,
>(event: Event, index: number, item: Item): Event {
  return index === event.index && item === event.item ? event : { ...event, index, item }
}

/**
 * Adds up the billed tokens. `newestTokens`, the current size of the conversation, is that of the latest round: after
 * two rounds of 10 and 15 tokens, `totalTokens` is 25 and `newestTokens` is 15.
 */
function addRoundUsage(total: TokenUsage | null, round: TokenUsage | null): TokenUsage | null {
  if (total === null || round === null) return round ?? total
  return { ...addTokenUsage(total, round), newestTokens: round.totalTokens }
}
