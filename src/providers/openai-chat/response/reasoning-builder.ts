/**
 * Builds a reasoning item from streamed pieces. Emits an event for each piece and the complete item
 * at the end.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Reasoning } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import { addReasoningDetail } from './merge-reasoning-details.ts'
import { packReasoningDetails, type ReasoningMaker } from '../pack-reasoning-details.ts'

export interface ReasoningBuilder {
  readonly addText: (text: string, channel: 'summary' | 'content') => void
  readonly addDetail: (piece: JsonObject) => void
  /** Ends the item. `isComplete: false` marks it as incomplete. */
  readonly end: (isComplete: boolean) => void
}

/** Creates the builder. If `maker` is not null, the details are packed into `encrypted_content`. */
export function createReasoningBuilder(
  index: number,
  emit: (event: StreamEvent) => void,
  maker: ReasoningMaker | null,
): ReasoningBuilder {
  let summary = ''
  let content = ''
  const details: JsonObject[] = []
  emit({ type: 'item-started', index, item: { type: 'reasoning', summary: [] } })
  return {
    addText(text, channel) {
      if (channel === 'summary') summary += text
      else content += text
      emit({ type: 'reasoning-delta', index, channel, part: 0, text })
    },
    addDetail: (piece) => addReasoningDetail(details, piece),
    end(isComplete) {
      const packed = maker === null ? null : packReasoningDetails(details, maker)
      const item: Reasoning = {
        type: 'reasoning',
        summary: summary === '' ? [] : [{ type: 'summary_text', text: summary }],
        ...(content === '' ? {} : { content: [{ type: 'reasoning_text', text: content }] }),
        ...(isComplete ? {} : { status: 'incomplete' }),
        ...(packed === null ? {} : { encrypted_content: packed }),
        ...(details.length === 0 ? {} : { native: { chat: { reasoning_details: details } } }),
      }
      emit({ type: 'item-ended', index, item })
    },
  }
}
