/**
 * The media inside a JSON text, taken out of it and put back character by character, without reading it
 * as JSON: a request is kept as it was sent. They are the same media as those of the items that show
 * them, and are kept once for both. What only looks like a reference is taken out as well.
 */
import {
  BASE64_FIELDS,
  MIN_MEDIA_CHARS,
  createMediaId,
  MEDIA_REFERENCE,
  MEDIA_REFERENCE_PATTERN,
} from './extract-item-media.ts'
import type { ExtractedMedia, MediaExtraction } from './extract-item-media.ts'

export function extractTextMedia(tenant: string, text: string): MediaExtraction {
  const looksTaken = text.includes(MEDIA_REFERENCE)
  const media: ExtractedMedia[] = []
  const left: string[] = []
  let done = 0
  // What is between two quotes may be a string; of base64 no character is escaped.
  for (let from = 0, to = 0; from < text.length; from = to + 1) {
    if (!looksTaken) from = behindShort(text, from)
    const quote = text.indexOf('"', from)
    to = quote === -1 ? text.length : quote
    const begins = mediumBegins(text, from, to, looksTaken)
    if (begins === null) continue
    const medium = text.slice(begins, to)
    const id = createMediaId(tenant, medium)
    media.push({ id, mime: mimeIn(text.slice(from, begins)), text: medium })
    left.push(text.slice(done, begins), MEDIA_REFERENCE, id)
    done = to
  }
  return media.length === 0 ? { text, media } : { text: left.join('') + text.slice(done), media }
}

/** What ends before so many characters are over is too short, with all that ends in between. */
function behindShort(text: string, begins: number): number {
  let from = begins
  for (;;) {
    const quote = text.lastIndexOf('"', from + MIN_MEDIA_CHARS)
    if (quote < from) return from
    from = quote + 1
  }
}

function mediumBegins(text: string, from: number, to: number, looksTaken: boolean): number | null {
  if (looksTaken && text.slice(from, to).includes(MEDIA_REFERENCE)) return from
  if (to - from <= MIN_MEDIA_CHARS) return null
  const head = text.slice(from, from + 256)
  if (head.startsWith('data:')) {
    const comma = head.indexOf(',')
    return head.slice(0, Math.max(comma, 0)).endsWith(';base64') ? from + comma + 1 : null
  }
  const field = FIELD.exec(text.slice(Math.max(0, from - 32), from))?.[1] ?? ''
  return BASE64_FIELDS.has(field) && /^[\w+/=-]{64}/.test(head) ? from : null
}

const FIELD = /"(\w+)"\s*:\s*"$/

function mimeIn(head: string): string {
  return /^data:([\w.+-]+\/[\w.+-]+)/.exec(head)?.[1] ?? ''
}

/** `null` if one of them is not there any more. */
export function restoreTextMedia(text: string, media: ReadonlyMap<string, string>): string | null {
  let isWhole = true
  const whole = text.replace(MEDIA_REFERENCE_PATTERN, (reference, id: string) => {
    isWhole &&= media.has(id)
    return media.get(id) ?? reference
  })
  return isWhole ? whole : null
}
