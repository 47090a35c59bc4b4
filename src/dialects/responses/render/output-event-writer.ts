/**
 * Tells all items of an answer. They may overlap; each is told under the place at which it began.
 *
 * The last word on an item is held until something else is heard, because whether the item is whole
 * or was cut off is only known from how the answer ends.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Item } from '../../../core/item.ts'
import type { AnswerContext } from '../../../core/ports/dialect-interface.ts'
import type { ResponseStatus } from './render-response-fields.ts'
import { createItemIdAssigner } from './assign-output-item-ids.ts'
import type { ItemEndStatus } from './render-item.ts'
import { createItemEventWriter, type ItemEventWriter } from './item-event-writer.ts'
import { decideReasoningVisibility } from './reasoning-visibility.ts'
import type { EventWriter } from './event-writer.ts'

export interface OutputEventWriter {
  readonly push: (event: StreamEvent) => void
  /** Closes what is still open. Returns the JSON text of all items, as a list. */
  readonly end: (status: ResponseStatus) => string
}

export function createOutputEventWriter(
  answering: AnswerContext,
  written: EventWriter,
): OutputEventWriter {
  const slots = tellSlots(answering, written)
  let isOver = false
  return {
    push(event) {
      if (isOver) return
      slots.release(
        event.type === 'answer-ended' && event.finish !== 'stop' ? 'incomplete' : 'completed',
      )
      switch (event.type) {
        case 'item-started':
          slots.start(event.index, event.item)
          return
        case 'text-delta':
          slots.teller(event.index, MESSAGE)?.say('text', event.part, event.text, event.logprobs)
          return
        case 'refusal-delta':
          slots.teller(event.index, MESSAGE)?.say('refusal', event.part, event.text)
          return
        case 'reasoning-delta':
          slots.teller(event.index, REASONING)?.say(event.channel, event.part, event.text)
          return
        case 'arguments-delta':
          // A call cannot begin without a name.
          slots.teller(event.index, null)?.say('arguments', 0, event.text)
          return
        case 'annotation-added':
          slots.teller(event.index, MESSAGE)?.annotate(event.part, event.annotation)
          return
        case 'item-ended':
          slots.close(event.index, event.item)
          return
        case 'answer-ended':
        case 'answer-failed':
          isOver = true
          return
        case 'answer-started':
          return
      }
    },
    end(status) {
      slots.release(status === 'incomplete' ? 'incomplete' : 'completed')
      return `[${slots.closeAll(status).join(',')}]`
    },
  }
}

interface Slot {
  readonly at: number
  readonly teller: ItemEventWriter
  isClosed: boolean
}

/** The items by the index under which they are heard of, and in the order in which they began. */
function tellSlots(answering: AnswerContext, written: EventWriter) {
  const idOf = createItemIdAssigner(answering.turnId)
  const view = decideReasoningVisibility(answering)
  const slots = new Map<number, Slot>()
  const output: string[] = []
  let held: Slot | null = null

  const start = (index: number, item: Item): Slot => {
    const known = slots.get(index)
    if (known !== undefined) return known
    const at = slots.size
    const slot = {
      at,
      teller: createItemEventWriter(item, idOf(item, at), at, view, written),
      isClosed: false,
    }
    slots.set(index, slot)
    return slot
  }
  /** Only the last item can have been cut off; nothing could come behind it. */
  const end = ({ at, teller }: Slot, ending: ItemEndStatus): void => {
    output[at] = teller.end(at === slots.size - 1 ? ending : 'completed')
  }
  return {
    start,
    /** `null` for an item that is over. One that nobody began begins now, as `item` if it can. */
    teller(index: number, item: Item | null): ItemEventWriter | null {
      const slot = slots.get(index) ?? (item === null ? null : start(index, item))
      return slot === null || slot.isClosed ? null : slot.teller
    },
    close(index: number, item: Item): void {
      const slot = start(index, item)
      if (slot.isClosed) return
      slot.teller.close(item)
      slot.isClosed = true
      held = slot
    },
    release(ending: ItemEndStatus): void {
      if (held !== null) end(held, ending)
      held = null
    },
    /** Of a failed answer everything that was open is cut off. */
    closeAll(status: ResponseStatus): readonly string[] {
      for (const slot of slots.values()) {
        if (slot.isClosed) continue
        slot.teller.close(null)
        if (status === 'failed') output[slot.at] = slot.teller.end('incomplete')
        else end(slot, status === 'completed' ? 'completed' : 'incomplete')
      }
      return output
    },
  }
}

const MESSAGE: Item = { type: 'message', role: 'assistant', content: [] }
const REASONING: Item = { type: 'reasoning', summary: [] }
