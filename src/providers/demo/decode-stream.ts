/**
 * Decodes the demo's stream, which consists of the gateway's own events. If it breaks off, the open
 * item ends as incomplete.
 */
import { isTerminalEvent, type ItemStarted, type StreamEvent } from '../../core/stream-event.ts'
import type { Item } from '../../core/item.ts'
import { createFailure } from '../../core/errors/gateway-error.ts'
import { NO_OUTPUT } from '../../core/stream/stage.ts'
import type { Decoder } from '../provider-interface.ts'

export function decodeStream(): Decoder {
  let isOver = false
  let open: ItemStarted | null = null
  let text = ''
  return {
    push({ data }) {
      const event = JSON.parse(data) as StreamEvent
      if (event.type === 'item-started') [open, text] = [event, '']
      else if (event.type === 'item-ended') open = null
      else if ('text' in event) text += event.text
      isOver = isTerminalEvent(event)
      return [event]
    },
    end() {
      if (isOver) return NO_OUTPUT
      isOver = true
      const failed: StreamEvent = { type: 'answer-failed', failure: BROKEN }
      if (open === null) return [failed]
      return [
        { type: 'item-ended', index: open.index, item: createIncompleteItem(open.item, text) },
        failed,
      ]
    },
  }
}

const BROKEN = createFailure('upstream_broken', 'The demo upstream broke off, as it was asked to.')

function createIncompleteItem(item: Item, text: string): Item {
  const status = 'incomplete'
  if (item.type === 'message') return { ...item, status, content: [{ type: 'output_text', text }] }
  if (item.type === 'reasoning') return { ...item, summary: [{ type: 'summary_text', text }] }
  return item.type === 'function_call' ? { ...item, status, arguments: text } : item
}
