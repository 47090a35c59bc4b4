/**
 * Extracts media from a JSON text without parsing it, and restores exactly the same text, because a
 * request is stored as it was sent. The text then contains a reference in place of each medium (see
 * `extract-item-media.ts`). A medium that is also part of an item is stored once for both. A string
 * that looks like a reference already is extracted too, because restoring would otherwise replace it
 * by another medium.
 */
import {
  createMedium,
  findBase64Start,
  MEDIA_REFERENCE,
  MEDIA_REFERENCE_PATTERN,
  MEDIUM_START_CHARS,
  MIN_MEDIA_CHARS,
  type ExtractedMedia,
  type MediaExtraction,
} from './extract-item-media.ts'

export function extractTextMedia(tenant: string, text: string): MediaExtraction {
  const hasReferences = text.includes(MEDIA_REFERENCE)
  const media: ExtractedMedia[] = []
  const pieces: string[] = []
  let copiedTo = 0
  // Examines each text between two quotes. Base64 contains no escaped characters, so a medium ends
  // at the next quote.
  for (let from = 0, to = 0; from < text.length; from = to + 1) {
    if (!hasReferences) from = skipShortStrings(text, from)
    const quote = text.indexOf('"', from)
    to = quote === -1 ? text.length : quote
    const start = findMediumStart(text, from, to, hasReferences)
    if (start === null) continue
    const medium = createMedium(tenant, text.slice(start, to), text.slice(from, start))
    media.push(medium)
    pieces.push(text.slice(copiedTo, start), MEDIA_REFERENCE, medium.id)
    copiedTo = to
  }
  return media.length === 0
    ? { text, media }
    : { text: pieces.join('') + text.slice(copiedTo), media }
}

/**
 * Skips strings that are too short for a medium: returns the position after the last quote within
 * the next `MIN_MEDIA_CHARS` characters.
 */
function skipShortStrings(text: string, start: number): number {
  let from = start
  for (;;) {
    const quote = text.lastIndexOf('"', from + MIN_MEDIA_CHARS)
    if (quote < from) return from
    from = quote + 1
  }
}

function findMediumStart(
  text: string,
  from: number,
  to: number,
  hasReferences: boolean,
): number | null {
  if (hasReferences && text.slice(from, to).includes(MEDIA_REFERENCE)) return from
  if (to - from <= MIN_MEDIA_CHARS) return null
  const field = FIELD.exec(text.slice(Math.max(0, from - 32), from))?.[1] ?? ''
  const start = findBase64Start(text.slice(from, from + MEDIUM_START_CHARS), field)
  return start === null ? null : from + start
}

/** Matches the field name that precedes a string value, e.g. `"data": "`. */
const FIELD = /"(\w+)"\s*:\s*"$/

/** Replaces references by their media. Returns `null` if one of the media is missing. */
export function restoreTextMedia(text: string, media: ReadonlyMap<string, string>): string | null {
  let isComplete = true
  const restored = text.replace(MEDIA_REFERENCE_PATTERN, (reference, id: string) => {
    isComplete &&= media.has(id)
    return media.get(id) ?? reference
  })
  return isComplete ? restored : null
}
