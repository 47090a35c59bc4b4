/**
 * Renders the images of an answer for chat clients, and the status message for an image that is
 * left out.
 */
import { buildDataUrl } from '../core/media/data-url.ts'
import type { Item, Part } from '../core/item.ts'
import { isObject, type JsonObject } from '../core/json/json.ts'
import {
  createOpenWebUiStatusMessage,
  type OpenWebUiStatusMessage,
} from '../core/stream/open-webui-status-message.ts'

/**
 * Renders the images of an item (parts of a message, or a generated image) in OpenRouter's format:
 * `{ type: 'image_url', image_url: { url } }`.
 */
export function renderAnswerImages(item: Item): readonly JsonObject[] {
  if (item.type === 'message')
    return item.content.map(renderImagePart).filter((image) => image !== null)
  if (item.type !== 'opaque' || item.raw['type'] !== 'image_generation_call') return []
  const { result, output_format: format } = item.raw
  if (typeof result !== 'string' || result === '') return []
  return [
    renderImageUrl(buildDataUrl(`image/${typeof format === 'string' ? format : 'png'}`, result)),
  ]
}

function renderImagePart(part: Part): JsonObject | null {
  if (part.type === 'input_image' && typeof part.image_url === 'string') {
    return renderImageUrl(part.image_url)
  }
  return part.type === 'opaque' && isObject(part.raw['image_url']) ? part.raw : null
}

function renderImageUrl(url: string): JsonObject {
  return { type: 'image_url', image_url: { url } }
}

export function createOmittedImageStatus(why: string): OpenWebUiStatusMessage {
  return createOpenWebUiStatusMessage(`The model made an image that is not shown: ${why}`, true)
}
