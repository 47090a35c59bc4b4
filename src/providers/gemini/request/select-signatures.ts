/**
 * Which signatures of an item may be sent. They hold only where they were made: an item out of the
 * store says where that was, a sealed one (`providers/gemini/pack-thought-signature.ts`) says by which model.
 */
import type { Item, Reasoning, ToolCall } from '../../../core/item.ts'
import type { Context } from './encoding-context.ts'
import { readsSignaturesOf } from '../model-traits.ts'
import { unseal } from '../pack-thought-signature.ts'
import { signaturesIn, type Signatures } from '../text-signatures.ts'

/** Those on an item's text; `null` for none. */
export function signaturesOf(
  item: Item,
  text: string,
  at: number,
  context: Context,
): Signatures | null {
  const signatures = signaturesIn(item.native?.['gemini'])
  if (signatures === null) return null
  if (!isFromHere(item, context)) {
    context.notebook.write('signature-of-elsewhere', { at })
    return null
  }
  if (signatures.runs.length > 0 && signatures.chars !== text.length) {
    context.notebook.write('signature-of-edited-text', { at })
    return null
  }
  return signatures
}

/** A call's own signature, else the one that the reasoning before it carries. */
export function signatureOfCall(
  call: ToolCall,
  before: Reasoning | null,
  at: number,
  context: Context,
): string | null {
  const own = call.native?.['gemini']?.['thoughtSignature']
  const sealed = typeof own === 'string' ? null : unseal(before?.encrypted_content)
  const signature = typeof own === 'string' ? own : (sealed?.signature ?? null)
  if (signature === null) return null
  const isReadable = sealed === null || readsSignaturesOf(context.model, sealed.model)
  const holder = sealed === null || before === null ? call : before
  if (isReadable && isFromHere(holder, context)) return signature
  context.notebook.write('signature-of-elsewhere', { at })
  return null
}

/** An item without an origin was made in this very conversation, as far as anybody can tell. */
export function isFromHere({ origin }: Item, { account, model }: Context): boolean {
  if (origin === undefined) return true
  return (
    origin.wire === 'gemini' &&
    origin.account === account.name &&
    readsSignaturesOf(model, origin.model)
  )
}
