/**
 * An item as it is told to an upstream that refuses its reasoning: reasoning not at all, anything
 * else without the signatures that its wire puts on calls, texts and media. What bears none is the
 * same object.
 */
import { patchObject } from '../json/patch-object.ts'
import type { Item, OpaqueItem } from '../item.ts'
import { isObject, type JsonObject } from '../json/json.ts'

export function stripReasoning(item: Item, wire: string): Item | null {
  if (item.type === 'reasoning') return null
  const plain = item.type === 'opaque' && wire === 'gemini' ? withoutSignedPart(item) : item
  const own = item.native?.[wire]
  const unsigned = own === undefined ? own : UNSIGNED[wire]?.(own)
  if (unsigned === undefined || unsigned === own) return plain
  return { ...plain, native: { ...plain.native, [wire]: unsigned } }
}

const UNSIGNED: Readonly<Record<string, (own: JsonObject) => JsonObject>> = {
  gemini: (own) =>
    patchObject(own, {
      thoughtSignature: undefined,
      signatures: undefined,
      chars: undefined,
      after: undefined,
    }),
  chat(own) {
    const entry = own['$entry']
    return patchObject(own, {
      reasoning_details: undefined,
      // Where services of this wire have the signature of a call.
      ...(isObject(entry) ? { $entry: patchObject(entry, { extra_content: undefined }) } : {}),
    })
  },
}

/** A part that nobody here understands is kept as it came, its signature among the rest. */
function withoutSignedPart(item: OpaqueItem): OpaqueItem {
  const { part } = item.raw
  if (item.raw['type'] !== 'gemini:part' || !isObject(part)) return item
  const unsigned = patchObject(part, { thoughtSignature: undefined })
  return unsigned === part ? item : { ...item, raw: { ...item.raw, part: unsigned } }
}
