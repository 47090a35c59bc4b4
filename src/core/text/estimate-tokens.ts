/**
 * Estimates the tokens of a JSON value without a tokenizer: 4 characters are a token, other alphabets
 * count double, and each Chinese, Japanese or Korean character is a token. Media count by kind, not by
 * the length of their base64.
 *
 * Takes one step per character and never recurses, so any input is safe.
 */
import { isObject, type JsonObject } from '../json/json.ts'

export function estimateTokens(value: unknown): number {
  let quarters = 0
  const pending: unknown[] = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    if (typeof next === 'string') quarters += stringQuarters(next)
    else if (Array.isArray(next)) for (const entry of next as unknown[]) pending.push(entry)
    else if (isObject(next)) quarters += objectQuarters(next, pending)
    else if (next !== undefined) quarters += PLAIN_VALUE_QUARTERS
  }
  return Math.ceil(quarters / 4)
}

/** Quarters of a token for a number, `true` or `null`. */
const PLAIN_VALUE_QUARTERS = 4
/** For the quotes, the colon and the comma around a field. */
const FIELD_QUARTERS = 4

function objectQuarters(object: JsonObject, pending: unknown[]): number {
  const media = mediaTokens(object)
  if (media !== null) return media * 4
  let quarters = 0
  for (const name of Object.keys(object)) {
    const value = object[name]
    if (value === undefined) continue
    quarters += name.length + FIELD_QUARTERS
    if (name === 'file_data' && typeof value === 'string' && !value.startsWith('data:')) {
      quarters += tokensOfBytes('', value.length) * 4
    } else pending.push(value)
  }
  return quarters
}

/** Typical price of an image of 1000 × 1000 pixels; all providers charge about the same. */
export const IMAGE_TOKENS = 1000

const IMAGES: ReadonlySet<unknown> = new Set([
  'input_image',
  'image_url',
  'image',
  'computer_screenshot',
  'image_generation_call',
])

/** Returns null for an object that is no medium. */
function mediaTokens(object: JsonObject): number | null {
  if (IMAGES.has(object['type'])) return IMAGE_TOKENS
  const { data, fileUri } = object
  if (typeof data !== 'string' && typeof fileUri !== 'string') return null
  const type = object['media_type'] ?? object['mimeType'] ?? object['mime_type']
  if (typeof type === 'string') return tokensOfMedium(type, typeof data === 'string' ? data : '')
  // OpenAI's APIs give the format of audio, e.g. `mp3`, instead of a media type.
  const { format } = object
  return typeof format === 'string' && typeof data === 'string'
    ? tokensOfMedium(`audio/${format}`, data)
    : null
}

function tokensOfMedium(mimeType: string, data: string): number {
  if (mimeType.startsWith('text/')) return Math.ceil(textQuarters(data) / 4)
  return mimeType.startsWith('image/') ? IMAGE_TOKENS : tokensOfBytes(mimeType, data.length)
}

/** Audio and video have many bytes per token, documents few. */
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

/** First characters that cost more than Latin ones: Greek and later alphabets, then Chinese and related scripts. */
const GREEK = 0x370
const CJK = 0x2e80

/** V8 knows without a scan that a one-byte string has none of these. */
const BEYOND_LATIN = /[\u0370-\uffff]/

function textQuarters(text: string): number {
  let quarters = text.length
  const start = text.search(BEYOND_LATIN)
  if (start < 0) return quarters
  for (let index = start; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code >= CJK) quarters += 3
    else if (code >= GREEK) quarters += 1
  }
  return quarters
}
