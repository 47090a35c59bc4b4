/** Pieces of an answer that a stream and a whole answer say alike. */
import { readChatOnlyFields, filterObjects } from '../../../core/items/chat-only-fields.ts'
import type { AnswerFinishReason } from '../../../core/stream-event.ts'
import type { Item } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'

export function renderFinishReason(finish: AnswerFinishReason | null, hasCalls: boolean): string {
  if (finish === 'length') return 'length'
  if (finish === 'content-filter') return 'content_filter'
  return hasCalls ? 'tool_calls' : 'stop'
}

/** `null` for an annotation that chat has no form for. */
export function renderAnnotation(annotation: JsonObject): JsonObject | null {
  const { type, ...citation } = annotation
  return type === 'url_citation' ? { type, url_citation: citation } : null
}

export function readReasoningDetails(item: Item): readonly JsonObject[] {
  return filterObjects(readChatOnlyFields(item).reasoning_details)
}
