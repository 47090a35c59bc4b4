/**
 * Selects the signatures of an item that may be sent. A signature is valid only for the account and
 * kind of model that made it. A stored item records both; a packed signature
 * (`providers/gemini/pack-thought-signature.ts`) records the model.
 */
import type { Item, Reasoning, ToolCall } from '../../../core/item.ts'
import type { EncodingContext } from './encoding-context.ts'
import { canReadSignatures } from '../model-traits.ts'
import { unpackSignature } from '../pack-thought-signature.ts'
import { parseSignatures, type TextSignatures } from '../text-signatures.ts'

/** Returns the signatures on the text of an item; `null` if it has none that are valid. */
export function selectTextSignatures(
  item: Item,
  text: string,
  at: number,
  context: EncodingContext,
): TextSignatures | null {
  const signatures = parseSignatures(item.native?.['gemini'])
  if (signatures === null) return null
  if (!hasReadableOrigin(item, context)) {
    context.notes.write('signature-of-elsewhere', { at })
    return null
  }
  if (signatures.spans.length > 0 && signatures.chars !== text.length) {
    context.notes.write('signature-of-edited-text', { at })
    return null
  }
  return signatures
}

/** Returns the signature of a tool call, or the one in the reasoning item before it. */
export function selectCallSignature(
  call: ToolCall,
  before: Reasoning | null,
  at: number,
  context: EncodingContext,
): string | null {
  const ownSignature = call.native?.['gemini']?.['thoughtSignature']
  if (typeof ownSignature === 'string') {
    if (hasReadableOrigin(call, context)) return ownSignature
  } else {
    const packed = unpackSignature(before?.encrypted_content)
    if (packed === null || before === null) return null
    const isReadable = canReadSignatures(context.model, packed.model)
    if (isReadable && hasReadableOrigin(before, context)) return packed.signature
  }
  context.notes.write('signature-of-elsewhere', { at })
  return null
}

/**
 * True if this account and model can read the item's signatures. An item without an origin is
 * treated as made by them.
 */
export function hasReadableOrigin({ origin }: Item, { account, model }: EncodingContext): boolean {
  if (origin === undefined) return true
  return (
    origin.wire === 'gemini' &&
    origin.account === account.name &&
    canReadSignatures(model, origin.model)
  )
}
