/**
 * Estimates the tokens of a JSON value without a tokenizer. Texts are estimated from their characters
 * (`estimate-text-tokens.ts`), media by kind and size and not by the length of their base64. All estimates of the gateway
 * are made here. The estimate is not recursive, so any input is safe.
 */
import { isObject, type JsonObject } from '../json/json.ts'
import { estimateTextTokens } from './estimate-text-tokens.ts'

export function estimateTokens(value: unknown): number {
  let tokens = 0
  const pending: unknown[] = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    if (typeof next === 'string') tokens += estimateString(next)
    else if (Array.isArray(next)) for (const entry of next as unknown[]) pending.push(entry)
    else if (isObject(next)) tokens += estimateObject(next, pending)
    else if (next !== undefined) tokens += PLAIN_VALUE_TOKENS
  }
  return Math.ceil(Math.round(tokens * 100) / 100)
}

/** Tokens of a number, a boolean or `null`. */
const PLAIN_VALUE_TOKENS = 1
/** Tokens of the quotes, the colon and the comma of a field, without its name. */
const FIELD_TOKENS = 1

/** Estimates the media of an object, or its field names; adds the values of its fields to `pending`. */
function estimateObject(object: JsonObject, pending: unknown[]): number {
  const media = mediaTokens(object)
  if (media !== null) return media
  let tokens = 0
  for (const name of Object.keys(object)) {
    const value = object[name]
    if (value === undefined) continue
    tokens += name.length / 4 + FIELD_TOKENS
    if (typeof value !== 'string') pending.push(value)
    else if (name === 'file_data' && !value.startsWith('data:')) {
      tokens += tokensOfBytes('', value.length)
    } else if (isEncrypted(name, object)) tokens += value.length / ENCRYPTED_CHARS_PER_TOKEN
    else tokens += estimateString(value)
  }
  return tokens
}

/** True for encrypted or signed reasoning. The model reads the decrypted text, which has fewer tokens than base64. */
function isEncrypted(name: string, { type }: JsonObject): boolean {
  if (name === 'data') return type === 'redacted_thinking' || type === 'reasoning.encrypted'
  return ENCRYPTED_FIELDS.has(name)
}

const ENCRYPTED_FIELDS: ReadonlySet<string> = new Set([
  'encrypted_content',
  'signature',
  'thoughtSignature',
  'thought_signature',
])
const ENCRYPTED_CHARS_PER_TOKEN = 4

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
  if (typeof type === 'string') {
    // The source of an Anthropic document can be a plain text; all other data are base64.
    if (object['type'] === 'text' && typeof data === 'string') return estimateTextTokens(data)
    return tokensOfMedium(type, typeof data === 'string' ? data : '')
  }
  // Audio in OpenAI's APIs has no media type but a format, e.g. `mp3`, which is converted to `audio/mp3`.
  const { format } = object
  return typeof format === 'string' && typeof data === 'string'
    ? tokensOfMedium(`audio/${format}`, data)
    : null
}

function tokensOfMedium(mimeType: string, data: string): number {
  // A token has about 4 bytes of text.
  if (mimeType.startsWith('text/')) return Math.ceil((data.length * 3) / 4 / 4)
  return mimeType.startsWith('image/') ? IMAGE_TOKENS : tokensOfBytes(mimeType, data.length)
}

/** Estimates tokens from the size in bytes: audio and video have more bytes per token than documents. */
function tokensOfBytes(mimeType: string, base64Chars: number): number {
  const bytesPerToken = /^(?:audio|video)\//.test(mimeType) ? 1000 : 50
  return Math.max(1, Math.ceil((base64Chars * 3) / 4 / bytesPerToken))
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)?[^,]{0,200}?;base64,/

function estimateString(text: string): number {
  const isData = text.startsWith('data:') ? DATA_URL.exec(text.slice(0, 400)) : null
  if (isData === null) return estimateTextTokens(text)
  const type = isData[1] ?? ''
  return type.startsWith('image/') ? IMAGE_TOKENS : tokensOfBytes(type, text.length)
}
