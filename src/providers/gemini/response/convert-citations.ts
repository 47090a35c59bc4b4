/**
 * Converts Gemini's grounding metadata to `url_citation` annotations. Gemini counts text positions
 * in bytes of UTF-8, OpenAI's clients in UTF-16 code units.
 */
import { isObject, type JsonObject } from '../../../core/json/json.ts'
import type { GroundingMetadata } from '../api-types.ts'

/**
 * Converts the citations of a text. Skips citations of positions outside the text and sources
 * without a URL.
 */
export function convertCitations(
  grounding: GroundingMetadata,
  text: string,
): readonly JsonObject[] {
  const { groundingSupports: supports, groundingChunks: chunks } = grounding
  if (!Array.isArray(supports) || !Array.isArray(chunks)) return []
  const toUtf16Offset = mapByteOffsets(text)
  const citations: JsonObject[] = []
  for (const support of supports as readonly unknown[]) {
    const { segment, groundingChunkIndices } = isObject(support) ? (support as Support) : NO_SUPPORT
    const start_index = toUtf16Offset(segment?.startIndex ?? 0)
    const end_index = toUtf16Offset(segment?.endIndex)
    if (start_index === null || end_index === null || start_index >= end_index) continue
    const quote = segment?.text
    if (typeof quote === 'string' && !text.startsWith(quote, start_index)) continue
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

const NO_SUPPORT: Support = {}

/**
 * Returns a function that converts byte positions to UTF-16 positions, e.g. 3 → 2 in `éa`. That
 * function returns `null` for a position outside the text.
 */
function mapByteOffsets(text: string): (byte: number | undefined) => number | null {
  const bytes = new TextEncoder().encode(text)
  // In ASCII text, both positions are the same, so no table is necessary.
  const chars = bytes.length === text.length ? null : new Uint32Array(bytes.length + 1)
  let count = 0
  if (chars !== null) {
    for (const [index, byte] of bytes.entries()) {
      chars[index] = count
      // Only the first byte of a character counts, not continuation bytes (`10xxxxxx`). A character
      // of four bytes takes two UTF-16 code units.
      if ((byte & 0xc0) !== 0x80) count += byte >= 0xf0 ? 2 : 1
    }
    chars[bytes.length] = count
  }
  return (byte) => {
    if (typeof byte !== 'number' || byte < 0 || byte > bytes.length) return null
    return chars === null ? byte : (chars[byte] ?? null)
  }
}
