/**
 * Encodes a tool output as a function response, which must contain a JSON object. From Gemini 3 on,
 * the response also contains the media of the output; for older models, media follow the response.
 *
 * https://ai.google.dev/gemini-api/docs/function-calling
 */
import { joinTextAndNotices } from '../../../core/text/gateway-notice.ts'
import type { Part } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import { tryParseLimitedJsonObject, type JsonBudget } from '../../../core/json/limited-json.ts'
import type { InlineBlob, GeminiPart } from '../api-types.ts'

export interface EncodedToolOutput {
  readonly response: JsonObject
  /** The media that the response contains. */
  readonly mediaInside: readonly { readonly inlineData: InlineBlob }[]
  /** The media that are sent after the responses of all parallel calls. */
  readonly partsAfter: readonly GeminiPart[]
}

/**
 * Encodes an output. `encodeMedia` returns the encoded medium or its notice; `null` for text and
 * refusals.
 */
export function encodeToolOutput(
  output: string | readonly Part[],
  allowsMediaInside: boolean,
  encodeMedia: (part: Part) => GeminiPart | null,
  jsonBudget: JsonBudget,
): EncodedToolOutput {
  const response = toResponseObject(joinTextAndNotices(output), jsonBudget)
  if (typeof output === 'string') return { response, mediaInside: [], partsAfter: [] }
  const mediaInside: { inlineData: InlineBlob }[] = []
  const partsAfter: GeminiPart[] = []
  for (const part of output) {
    const media = encodeMedia(part)
    if (media === null) continue
    const blob = media.inlineData
    if (allowsMediaInside && blob !== undefined && INLINE_TYPES.has(blob.mimeType)) {
      mediaInside.push({ inlineData: blob })
    } else {
      partsAfter.push(media)
    }
  }
  return { response, mediaInside, partsAfter }
}

const INLINE_TYPES = new Set(
  'image/png image/jpeg image/webp application/pdf text/plain'.split(' '),
)

function toResponseObject(text: string, jsonBudget: JsonBudget): JsonObject {
  // Sends text with numbers of 16 or more digits as a string, because JSON.parse would round them.
  if (!text.startsWith('{') || /\d{16}/.test(text)) return { output: text }
  return tryParseLimitedJsonObject(text, jsonBudget) ?? { output: text }
}
