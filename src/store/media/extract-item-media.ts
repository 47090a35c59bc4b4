/**
 * The media inside an item, taken out of its text before it is stored, and put back when it is read:
 * byte for byte, for an item is what its client or its model has said. In the text stands a reference
 * to each; whatever looks like one and is none is taken out as well, so that nobody can make one up.
 */
import { isObject, type Json } from '../../core/json/json.ts'
import { digestText } from '../../core/text/digest.ts'

export interface ExtractedMedia {
  /** The same for the same text of the same tenant, and for nothing else. */
  readonly id: string
  readonly mime: string
  readonly text: string
}

export interface MediaExtraction {
  /** JSON. */
  readonly text: string
  readonly media: readonly ExtractedMedia[]
}

/** What is shorter stays where it is. */
export const MIN_MEDIA_CHARS = 4096

/** `text` is the body as JSON. */
export function extractItemMedia(
  tenant: string,
  body: object,
  text = JSON.stringify(body),
): MediaExtraction {
  if (text.length <= MIN_MEDIA_CHARS && !text.includes(MEDIA_REFERENCE))
    return { text, media: NONE }
  const media: ExtractedMedia[] = []
  const without = (key: string, value: Json | undefined): Json | undefined => {
    if (typeof value === 'string') {
      const from = mediumBegins(key, value)
      if (from === null) return value
      const medium = { mime: mimeOf(value), text: value.slice(from) }
      const id = createMediaId(tenant, medium.text)
      media.push({ id, ...medium })
      return value.slice(0, from) + MEDIA_REFERENCE + id
    }
    if (Array.isArray(value)) return changed(value, (entry) => without(key, entry))
    return isObject(value) ? withoutIn(value) : value
  }
  const withoutIn = (object: { readonly [key: string]: Json | undefined }) =>
    Object.fromEntries(Object.entries(object).map(([key, value]) => [key, without(key, value)]))
  const rest = withoutIn(body as { readonly [key: string]: Json | undefined })
  const bare = media.length === 0 ? text : JSON.stringify(rest)
  return { text: withoutForged(bare, media), media }
}

/** The name of a field is no text to be taken out: what looks like a reference there is spelt otherwise. */
function withoutForged(text: string, media: readonly ExtractedMedia[]): string {
  if (!text.includes(MEDIA_REFERENCE)) return text
  const own = new Set(media.map(({ id }) => id))
  return text.replace(MEDIA_REFERENCE_PATTERN, (reference, id: string) =>
    own.has(id) ? reference : `\\u0062${reference.slice(1)}`,
  )
}

const NONE: readonly ExtractedMedia[] = []

export const MEDIA_REFERENCE = 'backstory-media:'

function changed(list: readonly Json[], change: (entry: Json) => Json | undefined): Json {
  return list.map((entry) => change(entry) ?? null)
}

/** Behind the head of a data URL, whose type need not be the same for the same data. */
function mediumBegins(key: string, value: string): number | null {
  if (value.includes(MEDIA_REFERENCE)) return 0
  if (value.length <= MIN_MEDIA_CHARS) return null
  if (value.startsWith('data:')) {
    const comma = value.slice(0, 256).indexOf(',')
    return value.slice(0, Math.max(comma, 0)).endsWith(';base64') ? comma + 1 : null
  }
  return BASE64_FIELDS.has(key) && /^[\w+/=-]{64}$/.test(value.slice(0, 64)) ? 0 : null
}

/** Where base64 stands without a word on what it is. */
export const BASE64_FIELDS = new Set(['data', 'file_data', 'result', 'b64_json'])

function mimeOf(value: string): string {
  return /^data:([\w.+-]+\/[\w.+-]+)/.exec(value.slice(0, 100))?.[1] ?? ''
}

/** Whoever knows it knows the tenant and the medium already. */
export function createMediaId(tenant: string, text: string): string {
  // What is no base64 may hold half a character, and UTF-8 has one word for all of those.
  const whole = text.isWellFormed() ? text : JSON.stringify(text)
  return digestText(`${digestText(tenant)}${whole}`)
}

/** The ids of the media that belong into a text. */
export function listMediaReferences(text: string): readonly string[] {
  if (!text.includes(MEDIA_REFERENCE)) return []
  return [...text.matchAll(MEDIA_REFERENCE_PATTERN)].map(([, id = '']) => id)
}

export const MEDIA_REFERENCE_PATTERN = new RegExp(`${MEDIA_REFERENCE}([\\w-]{22})`, 'g')

/** In the place of one that is not there any more is nothing, which no model is shown as a medium. */
export function restoreMedia(text: string, media: ReadonlyMap<string, string>): string {
  return text.replace(MEDIA_REFERENCE_PATTERN, (_, id: string) =>
    JSON.stringify(media.get(id) ?? '').slice(1, -1),
  )
}
