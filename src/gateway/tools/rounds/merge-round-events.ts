/**
 * Merges the events of several tool rounds into the events of one answer: one start, the items of all
 * rounds with the outputs of gateway tools, and one end. The items get unique ids
 * (`assign-round-item-ids.ts`).
 *
 * If a round ends with gateway calls, its end event is held back. It is dropped when the next round starts,
 * or becomes the end of the answer if there is no next round.
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
import { readToolCallIdentity } from '../../../core/items/tool-call-pairs.ts'
import { addTokenUsage } from '../../../core/stream/add-token-usage.ts'
import {
  createAnswerItemIdAssigner,
  UNCHANGED_ITEM_IDS,
  applyItemIds,
  type AssignedItemIds,
} from './assign-round-item-ids.ts'

export interface FinishedRound {
  readonly modelItems: readonly Item[]
  readonly gatewayCalls: readonly FunctionCall[]
  /** True if the round also has calls of the client's tools. */
  readonly hasClientCalls: boolean
  readonly finish: AnswerEnded['finish']
  /** Token usage of only this round. */
  readonly usage: TokenUsage | null
}

export type RoundEventMerger = ReturnType<typeof createRoundEventMerger>

/**
 * Creates the merger for one answer. `earlierItems`: the items before the answer; gateway calls do not get
 * their call ids.
 */
export function createRoundEventMerger(
  turnId: string,
  toolNames: Iterable<string>,
  earlierItems: readonly Item[] = [],
) {
  const idAssigner = createAnswerItemIdAssigner(turnId, toolNames, earlierItems)
  let hasStarted = false
  let isOver = false
  let usage: TokenUsage | null = null
  /** Number of items of earlier rounds, including outputs of gateway tools. */
  let indexOffset = 0
  let itemCount = 0
  let endedItems: Item[] = []
  let assignedIds = new Map<number, AssignedItemIds>()
  let heldEnding: AnswerEnded | null = null

  const startItem = (event: Extract<StreamEvent, { type: 'item-started' }>): StreamEvent => {
    const index = indexOffset + event.index
    itemCount = Math.max(itemCount, index + 1)
    const ids = idAssigner.assignIds(event.item, index)
    assignedIds.set(event.index, ids)
    return replaceIndexAndItem(event, index, applyItemIds(event.item, ids))
  }
  const endItem = (event: EndOfItem): StreamEvent => {
    const ids = assignedIds.get(event.index) ?? UNCHANGED_ITEM_IDS
    const item = applyItemIds(event.item, ids)
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
      case 'item-amended':
        return [endItem(event)]
      default:
        return [indexOffset === 0 ? event : { ...event, index: indexOffset + event.index }]
    }
  }

  return {
    /** Converts events of the current round to events of the answer. */
    pushEvents: (events: readonly StreamEvent[]) => events.flatMap(convertEvent),
    /** Returns the current round if it has ended with gateway calls, otherwise null. */
    getFinishedRound(): FinishedRound | null {
      if (heldEnding === null || isOver) return null
      const modelItems = endedItems.filter((item) => item !== undefined)
      return {
        modelItems,
        gatewayCalls: modelItems
          .filter(isGatewayToolItem)
          .filter((item) => item.type === 'function_call'),
        hasClientCalls: modelItems.some(
          (item) => !isGatewayToolItem(item) && readToolCallIdentity(item)?.side === 'call',
        ),
        finish: heldEnding.finish,
        usage: heldEnding.usage ?? null,
      }
    },
    /** Returns the events that add the outputs of the gateway calls to the answer. */
    addOutputs: (outputs: readonly FunctionCallOutput[]) =>
      outputs.flatMap((item): readonly StreamEvent[] => {
        const index = itemCount
        itemCount += 1
        return [
          { type: 'item-started', index, item },
          { type: 'item-ended', index, item },
        ]
      }),
    /**
     * Starts the next round. `toolNames`: gateway tools that it may call, in addition to those of earlier
     * rounds.
     */
    startNextRound(toolNames: Iterable<string> = []): void {
      idAssigner.addToolNames(toolNames)
      indexOffset = itemCount
      endedItems = []
      assignedIds = new Map()
      heldEnding = null
    },
    /** Ends the answer after a round with gateway calls. Returns the end event that was held back. */
    endAnswer(): readonly StreamEvent[] {
      if (heldEnding === null || isOver) return []
      isOver = true
      return [{ ...heldEnding, usage }]
    },
    failAnswer(failure: Failure): readonly StreamEvent[] {
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

type EndOfItem = Extract<StreamEvent, { type: 'item-ended' | 'item-amended' }>

function replaceIndexAndItem<
  Event extends Extract<StreamEvent, { type: 'item-started' }> | EndOfItem,
>(event: Event, index: number, item: Item): Event {
  return index === event.index && item === event.item ? event : { ...event, index, item }
}

/**
 * Adds the usage of a round to that of the earlier rounds. `newestTokens` is the current size of the
 * conversation, so it is only that of the latest round: after rounds of 10 and 15 tokens, `totalTokens` is
 * 25 and `newestTokens` is 15.
 */
function addRoundUsage(total: TokenUsage | null, round: TokenUsage | null): TokenUsage | null {
  if (total === null || round === null) return round ?? total
  return { ...addTokenUsage(total, round), newestTokens: round.totalTokens }
}
