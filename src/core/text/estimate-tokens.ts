/**
 * How many tokens a JSON value is worth to a model: an estimate, told without any vocabulary. Four
 * characters are a token; letters of other alphabets weigh double, and each character of Chinese,
 * Japanese and Korean is a token of its own. Media count by what they are, not by the length of
 * their base64.
 *
 * Whatever it is given, it takes one step for each character and never recurses.
 */
import { isObject, type JsonObject } from '../json/json.ts'

export function estimateTokens(value: unknown): number {
  let quarters = 0
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next === 'string') quarters += stringQuarters(next)
    else if (Array.isArray(next)) for (const entry of next as unknown[]) waiting.push(entry)
    else if (isObject(next)) quarters += objectQuarters(next, waiting)
    else if (next !== undefined) quarters += PLAIN_VALUE
  }
  return Math.ceil(quarters / 4)
}

/** A number, `true`, `null`. */
const PLAIN_VALUE = 4
/** The quotes, the colon and the comma around a field. */
const FIELD = 4

function objectQuarters(object: JsonObject, waiting: unknown[]): number {
  const media = mediaTokens(object)
  if (media !== null) return media * 4
  let quarters = 0
  for (const name of Object.keys(object)) {
    const value = object[name]
    if (value === undefined) continue
    quarters += name.length + FIELD
    if (name === 'file_data' && typeof value === 'string' && !value.startsWith('data:')) {
      quarters += tokensOfBytes('', value.length) * 4
    } else waiting.push(value)
  }
  return quarters
}

/** About what a picture of a thousand pixels a side costs, wherever it goes. */
export const IMAGE_TOKENS = 1000

const IMAGES: ReadonlySet<unknown> = new Set([
  'input_image',
  'image_url',
  'image',
  'computer_screenshot',
  'image_generation_call',
])

/** `null` for an object that is no medium. */
function mediaTokens(object: JsonObject): number | null {
  if (IMAGES.has(object['type'])) return IMAGE_TOKENS
  const { data, fileUri } = object
  if (typeof data !== 'string' && typeof fileUri !== 'string') return null
  const type = object['media_type'] ?? object['mimeType'] ?? object['mime_type']
  if (typeof type === 'string') return tokensOfMedium(type, typeof data === 'string' ? data : '')
  // Audio as OpenAI's APIs have it.
  const { format } = object
  return typeof format === 'string' && typeof data === 'string'
    ? tokensOfMedium(`audio/${format}`, data)
    : null
}

function tokensOfMedium(mimeType: string, data: string): number {
  if (mimeType.startsWith('text/')) return Math.ceil(textQuarters(data) / 4)
  return mimeType.startsWith('image/') ? IMAGE_TOKENS : tokensOfBytes(mimeType, data.length)
}

/** A second of sound or film has many bytes and few tokens; a page of a document is the reverse. */
function tokensOfBytes(mimeType: string, base64Chars: number): number {
  const bytesPerToken = /^(?:audio|video)\//.test(mimeType) ? 1000 : 50
  return Math.max(1, Math.ceil((base64Chars * 3) / 4 / bytesPerToken))
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)?[^,]{0,200}?;base64,/

function stringQuarters(text: string): number {
  const isData = text.startsWith('data:') ? DATA_URL.exec(text.slice(0, 400)) : null
  if (isData === null) return textQuarters(text)
  const type = isData[1] ?? ''
  return type.startsWith('image/') ? IMAGE_TOKENS * 4 : tokensOfBytes(type, text.length) * 4
}

/** Where the alphabets behind Latin begin, and the writings whose characters are words. */
const GREEK = 0x370
const CJK = 0x2e80

/** Of a text that has none V8 knows that without reading it. */
const BEYOND_LATIN = /[\u0370-\uffff]/

function textQuarters(text: string): number {
  let quarters = text.length
  const from = text.search(BEYOND_LATIN)
  if (from < 0) return quarters
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code >= CJK) quarters += 3
    else if (code >= GREEK) quarters += 1
  }
  return quarters
}
