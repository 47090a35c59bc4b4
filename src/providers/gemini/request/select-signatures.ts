/**
 * Selects the thought signatures that may be sent. Gemini accepts a signature only from the account
 * and the kind of model that made it. A stored item records both; a packed signature
 * (`pack-thought-signature.ts`) records only the model.
 */
import type { Item, Reasoning, ToolCall } from '../../../core/item.ts'
import type { EncodingContext } from './encoding-context.ts'
import { canReadSignatures } from '../model-traits.ts'
import { unpackSignature } from '../pack-thought-signature.ts'
import { parseSignatures, type TextSignatures } from '../text-signatures.ts'

/** Returns the signatures of an item's text; `null` if it has no valid ones. */
export function selectTextSignatures(
  item: Item,
  text: string,
  itemIndex: number,
  context: EncodingContext,
): TextSignatures | null {
  const signatures = parseSignatures(item.native?.['gemini'])
  if (signatures === null) return null
  if (!hasReadableOrigin(item, context)) {
    context.notes.write('signature-of-elsewhere', { itemIndex })
    return null
  }
  if (signatures.spans.length > 0 && signatures.textLength !== text.length) {
    context.notes.write('signature-of-edited-text', { itemIndex })
    return null
  }
  return signatures
}

/**
 * Returns the signature of a tool call: its own, or the one that is packed in the reasoning item
 * before it. Returns `null` if there is none, or if the model cannot read it.
 */
export function selectCallSignature(
  call: ToolCall,
  before: Reasoning | null,
  itemIndex: number,
  context: EncodingContext,
): string | null {
  const ownSignature = call.native?.['gemini']?.['thoughtSignature']
  if (typeof ownSignature === 'string' && ownSignature !== '') {
    if (hasReadableOrigin(call, context)) return ownSignature
  } else {
    const packed = unpackSignature(before?.encrypted_content)
    if (packed === null || before === null) return null
    const isReadable = canReadSignatures(context.model, packed.model)
    if (isReadable && hasReadableOrigin(before, context)) return packed.signature
  }
  context.notes.write('signature-of-elsewhere', { itemIndex })
  return null
}

/**
 * True if this account's model can read the signatures in the item, e.g. because it made the item.
 * Also true for an item without a recorded origin.
 */
export function hasReadableOrigin({ origin }: Item, { account, model }: EncodingContext): boolean {
  if (origin === undefined) return true
  return (
    origin.wire === 'gemini' &&
    origin.account === account.name &&
    canReadSignatures(model, origin.model)
  )
}
