/**
 * Prepares an item for an upstream that rejects its reasoning. Returns null for a reasoning item, and
 * any other item without the signatures that the wire adds to calls, texts and media. Returns the
 * same item if it has none.
 */
import { patchObject } from '../json/patch-object.ts'
import type { Item, OpaqueItem } from '../item.ts'
import { isObject, type JsonObject } from '../json/json.ts'

export function stripReasoning(item: Item, wire: string): Item | null {
  if (item.type === 'reasoning') return null
  const unsigned = item.type === 'opaque' && wire === 'gemini' ? removePartSignature(item) : item
  const fields = item.native?.[wire]
  const unsignedFields = fields === undefined ? fields : REMOVE_SIGNATURES[wire]?.(fields)
  if (unsignedFields === undefined || unsignedFields === fields) return unsigned
  return { ...unsigned, native: { ...unsigned.native, [wire]: unsignedFields } }
}

const REMOVE_SIGNATURES: Readonly<Record<string, (fields: JsonObject) => JsonObject>> = {
  gemini: (fields) =>
    patchObject(fields, {
      thoughtSignature: undefined,
      signatures: undefined,
      chars: undefined,
      after: undefined,
    }),
  chat(fields) {
    const entry = fields['$entry']
    return patchObject(fields, {
      reasoning_details: undefined,
      // Chat Completions services store the signature of a call in its `extra_content`.
      ...(isObject(entry) ? { $entry: patchObject(entry, { extra_content: undefined }) } : {}),
    })
  },
}

/** Unknown Gemini parts are stored as received, including their signature. */
function removePartSignature(item: OpaqueItem): OpaqueItem {
  const { part } = item.raw
  if (item.raw['type'] !== 'gemini:part' || !isObject(part)) return item
  const unsigned = patchObject(part, { thoughtSignature: undefined })
  return unsigned === part ? item : { ...item, raw: { ...item.raw, part: unsigned } }
}
