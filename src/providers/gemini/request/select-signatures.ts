/**
 * Which signatures of an item may be sent. They hold only where they were made: an item out of the
 * store says where that was, a sealed one (`providers/gemini/pack-thought-signature.ts`) says by which model.
 */
import type { Item, Reasoning, ToolCall } from '../../../core/item.ts'
import type { EncodingContext } from './encoding-context.ts'
import { canReadSignatures } from '../model-traits.ts'
import { unpackSignature } from '../pack-thought-signature.ts'
import { parseSignatures, type TextSignatures } from '../text-signatures.ts'

/** Those on an item's text; `null` for none. */
export function selectTextSignatures(
  item: Item,
  text: string,
  at: number,
  context: EncodingContext,
): TextSignatures | null {
  const signatures = parseSignatures(item.native?.['gemini'])
  if (signatures === null) return null
  if (!hasReadableOrigin(item, context)) {
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
export function selectCallSignature(
  call: ToolCall,
  before: Reasoning | null,
  at: number,
  context: EncodingContext,
): string | null {
  const own = call.native?.['gemini']?.['thoughtSignature']
  const sealed = typeof own === 'string' ? null : unpackSignature(before?.encrypted_content)
  const signature = typeof own === 'string' ? own : (sealed?.signature ?? null)
  if (signature === null) return null
  const isReadable = sealed === null || canReadSignatures(context.model, sealed.model)
  const holder = sealed === null || before === null ? call : before
  if (isReadable && hasReadableOrigin(holder, context)) return signature
  context.notebook.write('signature-of-elsewhere', { at })
  return null
}

/** An item without an origin was made in this very conversation, as far as anybody can tell. */
export function hasReadableOrigin({ origin }: Item, { account, model }: EncodingContext): boolean {
  if (origin === undefined) return true
  return (
    origin.wire === 'gemini' &&
    origin.account === account.name &&
    canReadSignatures(model, origin.model)
  )
}
