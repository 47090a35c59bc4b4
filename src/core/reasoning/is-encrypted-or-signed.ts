/**
 * Detects reasoning that is encrypted or signed, and so is valid only at its provider. Plain reasoning
 * text is valid everywhere.
 */
import { filterObjects } from '../items/chat-only-fields.ts'
import type { Item, Reasoning } from '../item.ts'

export function isEncryptedOrSigned({ encrypted_content: content, native }: Reasoning): boolean {
  if (typeof content === 'string' && content !== '') return true
  if (native === undefined) return false
  const { anthropic, gemini, chat } = native
  if (anthropic !== undefined) return true
  if (gemini?.['signatures'] !== undefined || gemini?.['thoughtSignature'] !== undefined)
    return true
  return filterObjects(chat?.['reasoning_details']).some(
    ({ signature, data }) => typeof signature === 'string' || typeof data === 'string',
  )
}

export function hasEncryptedOrSignedReasoning(items: readonly Item[]): boolean {
  return items.some((item) => item.type === 'reasoning' && isEncryptedOrSigned(item))
}
