/** Pieces of an answer that a stream and a whole answer say alike. */
import { chatNative, objectsIn } from '../../conversation/chat-native.ts'
import { dataUrl } from '../../conversation/data-url.ts'
import type { Finish } from '../../conversation/event.ts'
import type { Item, Part } from '../../conversation/item.ts'
import { isObject, type JsonObject } from '../../conversation/json.ts'

export function finishReason(finish: Finish | null, hasCalls: boolean): string {
  if (finish === 'length') return 'length'
  if (finish === 'content-filter') return 'content_filter'
  return hasCalls ? 'tool_calls' : 'stop'
}

/** `null` for an annotation that chat has no form for. */
export function tellAnnotation(annotation: JsonObject): JsonObject | null {
  const { type, ...citation } = annotation
  return type === 'url_citation' ? { type, url_citation: citation } : null
}

/** Images that the model made, in the form that OpenRouter has for them. */
export function tellImages(item: Item): readonly JsonObject[] {
  if (item.type === 'message') return item.content.map(tellImage).filter((image) => image !== null)
  if (item.type !== 'opaque' || item.raw['type'] !== 'image_generation_call') return []
  const { result, output_format: format } = item.raw
  if (typeof result !== 'string' || result === '') return []
  return [imageAt(dataUrl(`image/${typeof format === 'string' ? format : 'png'}`, result))]
}

function tellImage(part: Part): JsonObject | null {
  if (part.type === 'input_image' && typeof part.image_url === 'string') {
    return imageAt(part.image_url)
  }
  return part.type === 'opaque' && isObject(part.raw['image_url']) ? part.raw : null
}

function imageAt(url: string): JsonObject {
  return { type: 'image_url', image_url: { url } }
}

export function reasoningDetails(item: Item): readonly JsonObject[] {
  return objectsIn(chatNative(item).reasoning_details)
}
