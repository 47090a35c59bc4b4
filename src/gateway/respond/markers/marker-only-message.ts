/**
 * A message that is nothing but a marker, at the end of an answer that says nothing and calls nothing
 * of its client's: that client would have nothing to bring back by which the turn could be found.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Message } from '../../../core/item.ts'
import { callEndOf } from '../../../core/items/tool-call-pairs.ts'

export interface SilentAnswerTracker {
  readonly read: (event: StreamEvent) => void
  /** Whether it has items, but nothing up to here that its client will bring back. */
  readonly isSilent: () => boolean
  /** Behind all its items. */
  readonly message: (text: string) => LoneMarker
}

interface LoneMarker {
  readonly item: Message
  readonly events: readonly StreamEvent[]
}

export function trackSilentAnswer(): SilentAnswerTracker {
  let isSilent = true
  let next = 0
  return {
    read(event) {
      if ('index' in event) next = Math.max(next, event.index + 1)
      if (event.type === 'item-started' && callEndOf(event.item)?.side === 'call') isSilent = false
      if (event.type === 'text-delta' || event.type === 'refusal-delta') {
        if (/\S/.test(event.text)) isSilent = false
      }
    },
    isSilent: () => isSilent && next > 0,
    message(text) {
      const item: Message = {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text }],
      }
      const events: readonly StreamEvent[] = [
        { type: 'item-started', index: next, item: { ...item, content: [] } },
        { type: 'text-delta', index: next, part: 0, text },
        { type: 'item-ended', index: next, item },
      ]
      return { item, events }
    },
  }
}
