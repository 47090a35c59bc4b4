/**
 * Creates a message with only a marker, for an answer without text and client calls, e.g. with only
 * reasoning. Without the marker, the client would send nothing of such an answer back, and recall could not
 * find its turn.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Message } from '../../../core/item.ts'
import { readToolCallIdentity } from '../../../core/items/tool-call-pairs.ts'

export function trackMarkerOnlyAnswer() {
  let hasNoContent = true
  let nextIndex = 0
  return {
    readEvent(event: StreamEvent): void {
      if ('index' in event) nextIndex = Math.max(nextIndex, event.index + 1)
      if (event.type === 'item-started' && readToolCallIdentity(event.item)?.side === 'call')
        hasNoContent = false
      if (event.type === 'text-delta' || event.type === 'refusal-delta') {
        if (/\S/.test(event.text)) hasNoContent = false
      }
    },
    /** True if the answer has items, but no text and no calls, which the client would send back. */
    needsMarkerMessage: () => hasNoContent && nextIndex > 0,
    /** Creates the message with the marker, after the other items of the answer. */
    createMarkerMessage(text: string) {
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
