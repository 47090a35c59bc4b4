/**
 * Prepares an item for an upstream that rejected its reasoning. Returns null for a reasoning item, and
 * any other item without its signatures of the given wire, e.g. Gemini's `thoughtSignature` of a call.
 * Returns the same item if it has no signatures.
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
      // Services with Chat Completions, e.g. of Google, put the signature of a call into `extra_content`.
      ...(isObject(entry) ? { $entry: patchObject(entry, { extra_content: undefined }) } : {}),
    })
  },
}

/** Removes the signature from a Gemini part of unknown type, which is stored as it was received. */
function removePartSignature(item: OpaqueItem): OpaqueItem {
  const { part } = item.raw
  if (item.raw['type'] !== 'gemini:part' || !isObject(part)) return item
  const unsigned = patchObject(part, { thoughtSignature: undefined })
  return unsigned === part ? item : { ...item, raw: { ...item.raw, part: unsigned } }
}
