/**
 * Writes the events of all items of an answer. The items are numbered in the order in which they
 * started.
 *
 * The end of an item is delayed until the next event. If the next event is the end of the answer,
 * it decides whether the last item is complete or was cut off.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Item } from '../../../core/item.ts'
import type { AnswerContext } from '../../../core/ports/dialect-interface.ts'
import type { ResponseStatus } from './render-response-fields.ts'
import { createItemIdAssigner } from './assign-unique-item-ids.ts'
import type { ItemEndStatus } from './render-item.ts'
import type { OpenItemChannel } from './item-channels.ts'
import { createItemEventWriter, type ItemEventWriter } from './item-event-writer.ts'
import { decideReasoningVisibility } from './reasoning-visibility.ts'

export interface OutputEventWriter {
  readonly writeEventsFor: (event: StreamEvent) => void
  /** Closes all open items. Returns the list `output`, which contains all items, as JSON text. */
  readonly closeItems: (status: ResponseStatus) => string
}

export function createOutputEventWriter(
  answerContext: AnswerContext,
  openItemChannel: OpenItemChannel,
): OutputEventWriter {
  const items = createItemList(answerContext, openItemChannel)
  let isOver = false
  return {
    writeEventsFor(event) {
      if (isOver) return
      // Does not end the last item: only the end of the answer shows whether that item is complete.
      if (event.type === 'item-amended') return items.amend(event.index, event.item)
      const isCutOff = event.type === 'answer-ended' && event.finish !== 'stop'
      items.writeDelayedEnd(isCutOff ? 'incomplete' : 'completed')
      switch (event.type) {
        case 'item-started':
          items.start(event.index, event.item)
          return
        case 'text-delta':
          items
            .open(event.index, EMPTY_MESSAGE)
            ?.writeText('text', event.part, event.text, event.logprobs)
          return
        case 'refusal-delta':
          items.open(event.index, EMPTY_MESSAGE)?.writeText('refusal', event.part, event.text)
          return
        case 'reasoning-delta':
          items.open(event.index, EMPTY_REASONING)?.writeText(event.channel, event.part, event.text)
          return
        case 'arguments-delta':
          // Arguments without a start event are ignored, because a call cannot be started without
          // its name.
          items.open(event.index, null)?.writeText('arguments', 0, event.text)
          return
        case 'annotation-added':
          items.open(event.index, EMPTY_MESSAGE)?.writeAnnotation(event.part, event.annotation)
          return
        case 'item-ended':
          items.close(event.index, event.item)
          return
        case 'answer-ended':
        case 'answer-failed':
          isOver = true
          return
        case 'answer-started':
          return
      }
    },
    closeItems(status) {
      items.writeDelayedEnd(status === 'incomplete' ? 'incomplete' : 'completed')
      return `[${items.closeAll(status).join(',')}]`
    },
  }
}

interface ListedItem {
  readonly outputIndex: number
  readonly events: ItemEventWriter
  isClosed: boolean
  /** Null until the end of the item is written. */
  endStatus: ItemEndStatus | null
}

/**
 * Creates the list of the items that have started. `index` is the index of an item in the stream
 * events.
 */
function createItemList(answerContext: AnswerContext, openItemChannel: OpenItemChannel) {
  const assignId = createItemIdAssigner()
  const visibility = decideReasoningVisibility(answerContext)
  const items = new Map<number, ListedItem>()
  const output: string[] = []
  let itemToEnd: ListedItem | null = null

  const start = (index: number, item: Item): ListedItem => {
    const known = items.get(index)
    if (known !== undefined) return known
    const outputIndex = items.size
    const id = assignId(item, { turnId: answerContext.turnId, side: 'out', index: outputIndex })
    const events = createItemEventWriter(item, id, openItemChannel(), visibility)
    const listed: ListedItem = { outputIndex, events, isClosed: false, endStatus: null }
    items.set(index, listed)
    return listed
  }
  /**
   * Writes the end of an item. Only the last item can be incomplete, because no item starts after
   * an item that was cut off.
   */
  const end = (listed: ListedItem, status: ItemEndStatus): void => {
    const { outputIndex, events } = listed
    listed.endStatus = outputIndex === items.size - 1 ? status : 'completed'
    output[outputIndex] = events.writeEnd(listed.endStatus)
  }
  return {
    start,
    /**
     * Returns the writer of an item, or `null` if the item is closed. An item without a start event
     * is started as `item`, or ignored if `item` is `null`.
     */
    open(index: number, item: Item | null): ItemEventWriter | null {
      const listed = items.get(index) ?? (item === null ? null : start(index, item))
      return listed === null || listed.isClosed ? null : listed.events
    },
    close(index: number, item: Item): void {
      const listed = start(index, item)
      if (listed.isClosed) return
      listed.events.closeParts(item)
      listed.isClosed = true
      itemToEnd = listed
    },
    /** Replaces a closed item in the list `output`; its end event was sent before. */
    amend(index: number, item: Item): void {
      const listed = items.get(index)
      if (listed === undefined) return
      const { outputIndex, events, endStatus } = listed
      events.amend(item)
      if (endStatus !== null) output[outputIndex] = events.renderEnd(endStatus)
    },
    writeDelayedEnd(status: ItemEndStatus): void {
      if (itemToEnd !== null) end(itemToEnd, status)
      itemToEnd = null
    },
    /**
     * Closes all items and returns their JSON. In a failed answer, every item that was still open
     * is incomplete.
     */
    closeAll(status: ResponseStatus): readonly string[] {
      for (const listed of items.values()) {
        if (listed.isClosed) continue
        listed.events.closeParts(null)
        if (status === 'failed') output[listed.outputIndex] = listed.events.writeEnd('incomplete')
        else end(listed, status === 'completed' ? 'completed' : 'incomplete')
      }
      return output
    },
  }
}

const EMPTY_MESSAGE: Item = { type: 'message', role: 'assistant', content: [] }
const EMPTY_REASONING: Item = { type: 'reasoning', summary: [] }
