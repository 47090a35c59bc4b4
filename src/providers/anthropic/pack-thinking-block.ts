/**
 * Packs a thinking block into one string. A client without storage sends reasoning back only in
 * `encrypted_content`, so the data that this provider requires unchanged goes there:
 *
 *     anthropic:thinking:<check>:<signature>      the text is in the item's summary
 *     anthropic:redacted_thinking:<data>
 *
 * The check is a hash of the text. If a client edits the text, the signature is no longer valid,
 * and the block is left out because the API would reject it. No other wire may send a string that
 * starts with `anthropic:`.
 */
import type { JsonObject } from '../../core/json/json.ts'
import { hashFnv1a } from '../short-hash.ts'

const THINKING_PREFIX = 'anthropic:thinking:'
const REDACTED_PREFIX = 'anthropic:redacted_thinking:'

/** Packs a block; returns `null` for a thinking block without a signature. */
export function packThinkingBlock(block: JsonObject): string | null {
  const { type, thinking, signature, data } = block
  if (type === 'redacted_thinking') return typeof data === 'string' ? REDACTED_PREFIX + data : null
  if (typeof thinking !== 'string' || typeof signature !== 'string' || signature === '') return null
  return `${THINKING_PREFIX}${hashText(thinking)}:${signature}`
}

/**
 * Restores a block from the packed string and its text. Returns `null` if another provider made the
 * string, or if the check does not match the text.
 */
export function unpackThinkingBlock(packed: string, thinking: string): JsonObject | null {
  if (packed.startsWith(REDACTED_PREFIX)) {
    return { type: 'redacted_thinking', data: packed.slice(REDACTED_PREFIX.length) }
  }
  if (!packed.startsWith(THINKING_PREFIX)) return null
  const end = packed.indexOf(':', THINKING_PREFIX.length)
  const signature = packed.slice(end + 1)
  if (end === -1 || signature === '') return null
  if (packed.slice(THINKING_PREFIX.length, end) !== hashText(thinking)) return null
  return { type: 'thinking', thinking, signature }
}

/** Hashes a text to 8 hex digits, which is enough to detect an edit. */
export function hashText(text: string): string {
  return hashFnv1a(text).toString(16).padStart(8, '0')
}
