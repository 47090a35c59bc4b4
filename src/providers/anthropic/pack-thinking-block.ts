/**
 * A thinking block as one string. A client without memory can send reasoning back only in
 * `encrypted_content`, so what this provider demands unchanged is put there, readable by it alone:
 *
 *     anthropic:thinking:<check>:<signature>      the text is in the item's summary
 *     anthropic:redacted_thinking:<data>
 *
 * The check is a hash of the text. A client that shortened it would break the signature, and such a
 * block is better left out than refused. No other wire may send what starts with `anthropic:`.
 */
import type { JsonObject } from '../../core/json/json.ts'

const THINKING = 'anthropic:thinking:'
const REDACTED = 'anthropic:redacted_thinking:'

/** `null` for a block that nobody signed. */
export function packThinkingBlock(block: JsonObject): string | null {
  const { type, thinking, signature, data } = block
  if (type === 'redacted_thinking') return typeof data === 'string' ? REDACTED + data : null
  if (typeof thinking !== 'string' || typeof signature !== 'string' || signature === '') return null
  return `${THINKING}${hashText(thinking)}:${signature}`
}

/** `null` for what is not a seal of ours, or not of this text. */
export function unpackThinkingBlock(seal: string, thinking: string): JsonObject | null {
  if (seal.startsWith(REDACTED)) {
    return { type: 'redacted_thinking', data: seal.slice(REDACTED.length) }
  }
  if (!seal.startsWith(THINKING)) return null
  const end = seal.indexOf(':', THINKING.length)
  const signature = seal.slice(end + 1)
  if (end === -1 || signature === '') return null
  if (seal.slice(THINKING.length, end) !== hashText(thinking)) return null
  return { type: 'thinking', thinking, signature }
}

/** FNV-1a over UTF-16 code units: enough to notice an edit, and the same everywhere. */
export function hashText(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  return (hash >>> 0).toString(16).padStart(8, '0')
}
