/**
 * Encodes a tool output as a function response. Gemini requires a JSON object; media go inside the
 * response from Gemini 3 on, and after it before.
 * https://ai.google.dev/gemini-api/docs/function-calling
 */
import { joinTextAndNotices } from '../../../core/text/gateway-notice.ts'
import type { Part } from '../../../core/item.ts'
import { tryParseJsonObject, type JsonObject } from '../../../core/json/json.ts'
import type { InlineBlob, GeminiPart } from '../api-types.ts'

export interface EncodedToolOutput {
  readonly response: JsonObject
  /** Media inside the response. */
  readonly mediaInside: readonly { readonly inlineData: InlineBlob }[]
  /** Parts that come after all responses of the batch. */
  readonly partsAfter: readonly GeminiPart[]
}

/** `encodeMedia` returns media or the notice that replaces it; `null` for other parts. */
export function encodeToolOutput(
  output: string | readonly Part[],
  allowsMediaInside: boolean,
  encodeMedia: (part: Part) => GeminiPart | null,
): EncodedToolOutput {
  const response = toResponseObject(joinTextAndNotices(output))
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

const INLINE_TYPES = new Set([
  'image/png',
  'image/jpeg',
  'image/webp',
  'application/pdf',
  'text/plain',
])

function toResponseObject(text: string): JsonObject {
  // JSON.parse would change a number of 16 or more digits.
  if (!text.startsWith('{') || /\d{16}/.test(text)) return { output: text }
  return tryParseJsonObject(text) ?? { output: text }
}
