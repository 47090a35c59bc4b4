/** Reasoning while it is being written. */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Reasoning } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import { addReasoningDetail } from './merge-reasoning-details.ts'
import { packReasoningDetails, type ReasoningMaker } from '../pack-reasoning-details.ts'

export interface ReasoningBuilder {
  readonly addText: (text: string, channel: 'summary' | 'content') => void
  readonly addDetail: (piece: JsonObject) => void
  /** What broke off is marked as incomplete. */
  readonly end: (isWhole: boolean) => void
}

/** With a `maker` its details are sealed as well, for a client that keeps them itself. */
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
    end(isWhole) {
      const sealed = maker === null ? null : packReasoningDetails(details, maker)
      const item: Reasoning = {
        type: 'reasoning',
        summary: summary === '' ? [] : [{ type: 'summary_text', text: summary }],
        ...(content === '' ? {} : { content: [{ type: 'reasoning_text', text: content }] }),
        ...(isWhole ? {} : { status: 'incomplete' }),
        ...(sealed === null ? {} : { encrypted_content: sealed }),
        ...(details.length === 0 ? {} : { native: { chat: { reasoning_details: details } } }),
      }
      emit({ type: 'item-ended', index, item })
    },
  }
}
