/**
 * Reasoning that somebody has sealed or signed: it is valid only where it was made. What is plain
 * text is bound to nothing.
 */
import { filterObjects } from '../items/chat-only-fields.ts'
import type { Item, Reasoning } from '../item.ts'

export function isEncryptedReasoning({ encrypted_content: sealed, native }: Reasoning): boolean {
  if (typeof sealed === 'string' && sealed !== '') return true
  if (native === undefined) return false
  const { anthropic, gemini, chat } = native
  if (anthropic !== undefined) return true
  if (gemini?.['signatures'] !== undefined || gemini?.['thoughtSignature'] !== undefined)
    return true
  return filterObjects(chat?.['reasoning_details']).some(
    ({ signature, data }) => typeof signature === 'string' || typeof data === 'string',
  )
}

export function hasEncryptedReasoning(items: readonly Item[]): boolean {
  return items.some((item) => item.type === 'reasoning' && isEncryptedReasoning(item))
}
