/**
 * The answer to a function call. Gemini wants a JSON object; media stand inside it from the third
 * generation on, and beside it before. https://ai.google.dev/gemini-api/docs/function-calling
 */
import { joinTextAndNotices } from '../../../core/text/gateway-notice.ts'
import type { Part } from '../../../core/item.ts'
import { isObject, type JsonObject } from '../../../core/json/json.ts'
import type { InlineBlob, GeminiPart } from '../api-types.ts'

export interface EncodedToolOutput {
  readonly response: JsonObject
  /** Media that go inside the answer. */
  readonly inside: readonly { readonly inlineData: InlineBlob }[]
  /** Parts that go behind all answers of the batch. */
  readonly behind: readonly GeminiPart[]
}

/** `encodeMedia` gives a medium, or the notice in its place; `null` for what is none. */
export function encodeToolOutput(
  output: string | readonly Part[],
  mediaInside: boolean,
  encodeMedia: (part: Part) => GeminiPart | null,
): EncodedToolOutput {
  const response = objectOf(joinTextAndNotices(output))
  if (typeof output === 'string') return { response, inside: [], behind: [] }
  const inside: { inlineData: InlineBlob }[] = []
  const behind: GeminiPart[] = []
  for (const part of output) {
    const media = encodeMedia(part)
    if (media === null) continue
    const blob = media.inlineData
    if (mediaInside && blob !== undefined && INSIDE.has(blob.mimeType)) {
      inside.push({ inlineData: blob })
    } else {
      behind.push(media)
    }
  }
  return { response, inside, behind }
}

const INSIDE = new Set(['image/png', 'image/jpeg', 'image/webp', 'application/pdf', 'text/plain'])

function objectOf(text: string): JsonObject {
  // A number this long would come out of JSON.parse as another one.
  if (!text.startsWith('{') || /\d{16}/.test(text)) return { output: text }
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : { output: text }
  } catch {
    return { output: text }
  }
}
