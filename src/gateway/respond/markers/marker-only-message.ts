/**
 * Creates a message with only a marker, at the end of an answer without text and without client calls. The client
 * sends nothing else of such an answer back, so the turn could not be found.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Message } from '../../../core/item.ts'
import { callEndOf } from '../../../core/items/tool-call-pairs.ts'

export interface SilentAnswerTracker {
  readonly read: (event: StreamEvent) => void
  /** True if the answer has items so far, but none that the client sends back. */
  readonly isSilent: () => boolean
  /** The message comes after all items of the answer. */
  readonly createMarkerMessage: (text: string) => {
    readonly item: Message
    readonly events: readonly StreamEvent[]
  }
}

export function trackSilentAnswer(): SilentAnswerTracker {
  let isSilent = true
  let nextIndex = 0
  return {
    read(event) {
      if ('index' in event) nextIndex = Math.max(nextIndex, event.index + 1)
      if (event.type === 'item-started' && callEndOf(event.item)?.side === 'call') isSilent = false
      if (event.type === 'text-delta' || event.type === 'refusal-delta') {
        if (/\S/.test(event.text)) isSilent = false
      }
    },
    isSilent: () => isSilent && nextIndex > 0,
    createMarkerMessage(text) {
      const item: Message = {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text }],
      }
      const events: readonly StreamEvent[] = [
        { type: 'item-started', index: nextIndex, item: { ...item, content: [] } },
        { type: 'text-delta', index: nextIndex, part: 0, text },
        { type: 'item-ended', index: nextIndex, item },
      ]
      return { item, events }
    },
  }
}
