/**
 * Packs a thinking block into a string. A client that stores its conversation itself sends only the
 * `encrypted_content` of reasoning back, so that string holds the signature or the encrypted data:
 *
 *     anthropic:thinking:<hash>:<signature>      the text is in the item's summary
 *     anthropic:redacted_thinking:<data>
 *
 * `<hash>` is computed from the text. If a client edits the text, the hash differs, and the block
 * is not sent, because the API would reject it. The prefix `anthropic:` shows the encoders of the
 * other wires that their upstreams cannot read the string, so they do not send it.
 */
import type { JsonObject } from '../../core/json/json.ts'
import { hashFnv1a } from '../short-hash.ts'

const THINKING_PREFIX = 'anthropic:thinking:'
const REDACTED_PREFIX = 'anthropic:redacted_thinking:'

/** Packs a thinking block; returns `null` if it has no signature and no encrypted data. */
export function packThinkingBlock(block: JsonObject): string | null {
  const { type, thinking, signature, data } = block
  if (type === 'redacted_thinking') return typeof data === 'string' ? REDACTED_PREFIX + data : null
  if (typeof thinking !== 'string' || typeof signature !== 'string') return null
  if (signature.trim() === '') return null
  return `${THINKING_PREFIX}${hashToHex(thinking)}:${signature}`
}

/**
 * Restores a thinking block from the packed string and the text. Returns `null` if another provider
 * made the string, or if the text was edited.
 */
export function unpackThinkingBlock(packed: string, thinking: string): JsonObject | null {
  if (packed.startsWith(REDACTED_PREFIX)) {
    return { type: 'redacted_thinking', data: packed.slice(REDACTED_PREFIX.length) }
  }
  if (!packed.startsWith(THINKING_PREFIX)) return null
  const end = packed.indexOf(':', THINKING_PREFIX.length)
  const signature = packed.slice(end + 1)
  if (end === -1 || signature.trim() === '') return null
  if (packed.slice(THINKING_PREFIX.length, end) !== hashToHex(thinking)) return null
  return { type: 'thinking', thinking, signature }
}

/** Returns a hash of 8 hexadecimal digits, enough to detect an edit. */
export function hashToHex(text: string): string {
  return hashFnv1a(text).toString(16).padStart(8, '0')
}
