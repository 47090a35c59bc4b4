/**
 * The media inside an item, taken out of its text before it is stored, and put back when it is read:
 * byte for byte, for an item is what its client or its model has said. In the text stands a reference
 * to each; whatever looks like one and is none is taken out as well, so that nobody can make one up.
 */
import { isObject, type Json } from '../../core/json/json.ts'
import { digest } from '../../core/text/digest.ts'

export interface TakenMedium {
  /** The same for the same text of the same tenant, and for nothing else. */
  readonly id: string
  readonly mime: string
  readonly text: string
}

export interface TakenOut {
  /** JSON. */
  readonly text: string
  readonly media: readonly TakenMedium[]
}

/** What is shorter stays where it is. */
export const LARGE_CHARS = 4096

/** `text` is the body as JSON. */
export function takenOut(tenant: string, body: object, text = JSON.stringify(body)): TakenOut {
  if (text.length <= LARGE_CHARS && !text.includes(REFERENCE)) return { text, media: NONE }
  const media: TakenMedium[] = []
  const without = (key: string, value: Json | undefined): Json | undefined => {
    if (typeof value === 'string') {
      const from = mediumBegins(key, value)
      if (from === null) return value
      const medium = { mime: mimeOf(value), text: value.slice(from) }
      const id = mediumId(tenant, medium.text)
      media.push({ id, ...medium })
      return value.slice(0, from) + REFERENCE + id
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
function withoutForged(text: string, media: readonly TakenMedium[]): string {
  if (!text.includes(REFERENCE)) return text
  const own = new Set(media.map(({ id }) => id))
  return text.replace(REFERENCES, (reference, id: string) =>
    own.has(id) ? reference : `\\u0062${reference.slice(1)}`,
  )
}

const NONE: readonly TakenMedium[] = []

export const REFERENCE = 'backstory-media:'

function changed(list: readonly Json[], change: (entry: Json) => Json | undefined): Json {
  return list.map((entry) => change(entry) ?? null)
}

/** Behind the head of a data URL, whose type need not be the same for the same data. */
function mediumBegins(key: string, value: string): number | null {
  if (value.includes(REFERENCE)) return 0
  if (value.length <= LARGE_CHARS) return null
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
export function mediumId(tenant: string, text: string): string {
  // What is no base64 may hold half a character, and UTF-8 has one word for all of those.
  const whole = text.isWellFormed() ? text : JSON.stringify(text)
  return digest(`${digest(tenant)}${whole}`)
}

/** The ids of the media that belong into a text. */
export function referencesIn(text: string): readonly string[] {
  if (!text.includes(REFERENCE)) return []
  return [...text.matchAll(REFERENCES)].map(([, id = '']) => id)
}

export const REFERENCES = new RegExp(`${REFERENCE}([\\w-]{22})`, 'g')

/** In the place of one that is not there any more is nothing, which no model is shown as a medium. */
export function putBack(text: string, media: ReadonlyMap<string, string>): string {
  return text.replace(REFERENCES, (_, id: string) =>
    JSON.stringify(media.get(id) ?? '').slice(1, -1),
  )
}
