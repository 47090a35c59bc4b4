/**
 * What an answer is grounded on, as `url_citation` annotations. Gemini says so at the end, with
 * places counted in bytes of UTF-8; OpenAI's clients count characters.
 */
import { isObject, type JsonObject } from '../../../core/json/json.ts'
import type { GroundingMetadata } from '../api-types.ts'

/** A place that does not fit the text, or a source without an address, is left out. */
export function convertCitations(
  grounding: GroundingMetadata,
  text: string,
): readonly JsonObject[] {
  const { groundingSupports: supports, groundingChunks: chunks } = grounding
  if (!Array.isArray(supports) || !Array.isArray(chunks)) return []
  const charAt = placesIn(text)
  const citations: JsonObject[] = []
  for (const support of supports as readonly unknown[]) {
    const { segment, groundingChunkIndices } = isObject(support) ? (support as Support) : NOWHERE
    const start_index = charAt(segment?.startIndex ?? 0)
    const end_index = charAt(segment?.endIndex)
    if (start_index === null || end_index === null || start_index >= end_index) continue
    const words = segment?.text
    if (typeof words === 'string' && !text.startsWith(words, start_index)) continue
    if (!Array.isArray(groundingChunkIndices)) continue
    for (const index of groundingChunkIndices as readonly number[]) {
      const web = (chunks as readonly (Source | undefined)[])[index]?.web
      if (typeof web?.uri !== 'string') continue
      const title = web.title ?? ''
      citations.push({ type: 'url_citation', start_index, end_index, url: web.uri, title })
    }
  }
  return citations
}

type Support = NonNullable<GroundingMetadata['groundingSupports']>[number]
type Source = NonNullable<GroundingMetadata['groundingChunks']>[number]

const NOWHERE: Support = {}

/** From a place in bytes to one in UTF-16 units; `null` for a place that there is not. */
function placesIn(text: string): (byte: number | undefined) => number | null {
  const bytes = new TextEncoder().encode(text)
  // Where no character takes more than a byte, the places are the same.
  const chars = bytes.length === text.length ? null : new Uint32Array(bytes.length + 1)
  let count = 0
  if (chars !== null) {
    for (const [at, byte] of bytes.entries()) {
      chars[at] = count
      // A byte of the form 10xxxxxx continues a character; four bytes make a pair of units.
      if ((byte & 0xc0) !== 0x80) count += byte >= 0xf0 ? 2 : 1
    }
    chars[bytes.length] = count
  }
  return (byte) => {
    if (typeof byte !== 'number' || byte < 0 || byte > bytes.length) return null
    return chars === null ? byte : (chars[byte] ?? null)
  }
}
