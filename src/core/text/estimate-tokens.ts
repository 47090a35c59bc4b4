/**
 * Estimates the tokens of a JSON value without a tokenizer: one for 4 Latin characters, for 2 characters
 * of other alphabets, or for one Chinese, Japanese or Korean character. Media are estimated by kind and
 * size, not by the length of their base64. The estimate is not recursive, so any input is safe.
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

/** Quarters of a token for a number, a boolean or `null`. */
const PLAIN_VALUE_QUARTERS = 4
/** Quarters of a token for the quotes, the colon and the comma of a field. */
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

/** Tokens of an image of 1000 × 1000 pixels, which are about the same at all providers. */
export const IMAGE_TOKENS = 1000

const IMAGES: ReadonlySet<unknown> = new Set([
  'input_image',
  'image_url',
  'image',
  'computer_screenshot',
  'image_generation_call',
])

/** Returns the tokens of an object that is an image, recording or file; null for any other object. */
function mediaTokens(object: JsonObject): number | null {
  if (IMAGES.has(object['type'])) return IMAGE_TOKENS
  const { data, fileUri } = object
  if (typeof data !== 'string' && typeof fileUri !== 'string') return null
  const type = object['media_type'] ?? object['mimeType'] ?? object['mime_type']
  if (typeof type === 'string') return tokensOfMedium(type, typeof data === 'string' ? data : '')
  // Audio in OpenAI's APIs has no media type but a format, e.g. `mp3`, which is converted to `audio/mp3`.
  const { format } = object
  return typeof format === 'string' && typeof data === 'string'
    ? tokensOfMedium(`audio/${format}`, data)
    : null
}

function tokensOfMedium(mimeType: string, data: string): number {
  if (mimeType.startsWith('text/')) return Math.ceil(textQuarters(data) / 4)
  return mimeType.startsWith('image/') ? IMAGE_TOKENS : tokensOfBytes(mimeType, data.length)
}

/** Estimates tokens from the size in bytes: audio and video have more bytes per token than documents. */
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

/** Code of the first character that counts double (Greek and later alphabets). */
const GREEK = 0x370
/** Code of the first character that counts as one token (Chinese and related scripts). */
const CJK = 0x2e80

/**
 * Matches characters after the Latin alphabets. The search is fast in most texts, because V8 stores a text
 * without such characters in one byte per character.
 */
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
