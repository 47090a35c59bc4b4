/**
 * Extracts media from an item before it is stored, and restores them byte for byte when the item is
 * read. The stored text contains a reference instead, e.g. `backstory-media:` and 22 characters. A
 * string that only looks like a reference is extracted too, because restoring would otherwise
 * replace it, perhaps by another user's medium.
 */
import { isObject, type Json } from '../../core/json/json.ts'
import { digestText } from '../../core/text/digest.ts'

export interface ExtractedMedia {
  /** Hash of the tenant and the text, so that equal texts of one tenant are stored once. */
  readonly id: string
  readonly mime: string
  readonly text: string
}

export interface MediaExtraction {
  /** The JSON of the item, with references instead of media. */
  readonly text: string
  readonly media: readonly ExtractedMedia[]
}

/** Shorter strings, and strings of exactly this length, stay in the item. */
export const MIN_MEDIA_CHARS = 4096

/** Extracts the media of `body`. `text` is `body` as JSON. */
export function extractItemMedia(
  tenant: string,
  body: object,
  text = JSON.stringify(body),
): MediaExtraction {
  if (text.length <= MIN_MEDIA_CHARS && !text.includes(MEDIA_REFERENCE)) return { text, media: [] }
  const media: ExtractedMedia[] = []
  const extract = (key: string, value: Json | undefined): Json | undefined => {
    if (typeof value === 'string') {
      const from = findMediumStart(key, value)
      if (from === null) return value
      const medium = createMedium(tenant, value.slice(from), value)
      media.push(medium)
      return value.slice(0, from) + MEDIA_REFERENCE + medium.id
    }
    if (Array.isArray(value)) return value.map((entry) => extract(key, entry) ?? null)
    return isObject(value) ? extractFromFields(value) : value
  }
  const extractFromFields = (object: { readonly [key: string]: Json | undefined }) =>
    Object.fromEntries(Object.entries(object).map(([key, value]) => [key, extract(key, value)]))
  const withoutMedia = extractFromFields(body as { readonly [key: string]: Json | undefined })
  const remaining = media.length === 0 ? text : JSON.stringify(withoutMedia)
  return { text: escapeForgedReferences(remaining, media), media }
}

/**
 * Escapes strings that look like references in field names, which cannot be extracted: the `b`
 * becomes `\u0062`.
 */
function escapeForgedReferences(text: string, media: readonly ExtractedMedia[]): string {
  if (!text.includes(MEDIA_REFERENCE)) return text
  const ids = new Set(media.map(({ id }) => id))
  return text.replace(MEDIA_REFERENCE_PATTERN, (reference, id: string) =>
    ids.has(id) ? reference : `\\u0062${reference.slice(1)}`,
  )
}

export const MEDIA_REFERENCE = 'backstory-media:'

function findMediumStart(field: string, value: string): number | null {
  if (value.includes(MEDIA_REFERENCE)) return 0
  if (value.length <= MIN_MEDIA_CHARS) return null
  return findBase64Start(value.slice(0, MEDIUM_START_CHARS), field)
}

/** Number of leading characters of a string that `findBase64Start` needs. */
export const MEDIUM_START_CHARS = 256

/**
 * Returns the index at which the base64 of a string value begins, or null if the value is no medium.
 * The beginning of a data URL, e.g. `data:image/png;base64,`, stays in the item, because equal data
 * may have different types. Base64 that is no data URL is recognized by the name of its field.
 */
export function findBase64Start(leadingChars: string, field: string): number | null {
  if (leadingChars.startsWith('data:')) {
    const comma = leadingChars.indexOf(',')
    return leadingChars.slice(0, Math.max(comma, 0)).endsWith(';base64') ? comma + 1 : null
  }
  return BASE64_FIELDS.has(field) && /^[\w+/=-]{64}/.test(leadingChars) ? 0 : null
}

const BASE64_FIELDS = new Set(['data', 'file_data', 'result', 'b64_json'])

/** Creates a medium from its text. `source` is the complete string, e.g. `data:image/png;base64,…`. */
export function createMedium(tenant: string, text: string, source: string): ExtractedMedia {
  const mime = /^data:([\w.+-]+\/[\w.+-]+)/.exec(source.slice(0, 100))?.[1] ?? ''
  return { id: createMediaId(tenant, text), mime, text }
}

/** Computes the id of a medium from the tenant and the complete text. */
export function createMediaId(tenant: string, text: string): string {
  // Hashes the JSON of a text with unpaired surrogates, because UTF-8 cannot distinguish them.
  const wellFormed = text.isWellFormed() ? text : JSON.stringify(text)
  // A text with short pieces gets an id of its own, because earlier versions may have stored it
  // with longer ones.
  const isOfEarlierVersions = text.length <= SHORT_PIECE_CHARS || isBase64(text)
  const hashed = isOfEarlierVersions ? wellFormed : `${SHORT_PIECE_CHARS} ${wellFormed}`
  return digestText(`${digestText(tenant)}${hashed}`)
}

/**
 * Returns the maximum length of the pieces of a medium. A row of D1 is at most 2 MB long: base64
 * takes a third more when it is encrypted, and a character of another text, as JSON, takes up to
 * six bytes.
 */
export function choosePieceChars(text: string): number {
  return isBase64(text) ? BASE64_PIECE_CHARS : SHORT_PIECE_CHARS
}

const BASE64_PIECE_CHARS = 1_000_000
const SHORT_PIECE_CHARS = 300_000

function isBase64(text: string): boolean {
  return /^[\w+/=-]*$/.test(text)
}

/** Returns the ids of the media that a text refers to. */
export function listMediaReferences(text: string): readonly string[] {
  if (!text.includes(MEDIA_REFERENCE)) return []
  return [...text.matchAll(MEDIA_REFERENCE_PATTERN)].map(([, id = '']) => id)
}

export const MEDIA_REFERENCE_PATTERN = new RegExp(`${MEDIA_REFERENCE}([\\w-]{22})`, 'g')

/**
 * Replaces references by their media. The reference to a missing medium becomes an empty string,
 * which is not sent to models as a medium.
 */
export function restoreMedia(text: string, media: ReadonlyMap<string, string>): string {
  return text.replace(MEDIA_REFERENCE_PATTERN, (_, id: string) =>
    JSON.stringify(media.get(id) ?? '').slice(1, -1),
  )
}
