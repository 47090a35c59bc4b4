/**
 * Signatures on text. Gemini signs a part, and a part is whatever came in one chunk: a signature
 * must go back on exactly that stretch of text, neither joined with unsigned text nor split
 * (https://ai.google.dev/gemini-api/docs/thought-signatures). A client however wants one text. So
 * an item holds the text in one piece, and in `native.gemini` where the signed stretches lie:
 *
 *     { signatures: [{ start, end, thoughtSignature }], chars, after }
 *
 * `chars` is the length of the whole text, to tell whether somebody has edited it; `after` holds the
 * signatures of empty parts behind the item.
 */
import { isObject, type JsonObject } from '../../core/json/json.ts'
import type { GeminiPart } from './api-types.ts'

export type SignedSpan = {
  readonly start: number
  readonly end: number
  readonly thoughtSignature: string
}

export interface TextSignatures {
  readonly runs: readonly SignedSpan[]
  readonly chars: number
  readonly after: readonly string[]
}

/** What to keep in `native.gemini`, `null` if nothing is signed. */
export function serializeSignatures({ runs, chars, after }: TextSignatures): JsonObject | null {
  if (runs.length === 0 && after.length === 0) return null
  return {
    ...(runs.length === 0 ? {} : { signatures: runs, chars }),
    ...(after.length === 0 ? {} : { after }),
  }
}

/** `null` where there are none. */
export function parseSignatures(native: JsonObject | undefined): TextSignatures | null {
  if (native === undefined) return null
  const listed = native['signatures']
  const { chars } = native
  const after = parseTrailingSignatures(native)
  const runs = Array.isArray(listed) ? (listed as readonly unknown[]).filter(isRun) : []
  if (runs.length === 0 && after.length === 0) return null
  return { runs, chars: typeof chars === 'number' ? chars : 0, after }
}

export function parseTrailingSignatures(native: JsonObject | undefined): readonly string[] {
  const after = native?.['after']
  return Array.isArray(after)
    ? (after as readonly unknown[]).filter((signature) => typeof signature === 'string')
    : []
}

/** Parts that consist of a signature. */
export function createSignatureParts(signatures: readonly string[]): readonly GeminiPart[] {
  return signatures.map((thoughtSignature) => ({ text: '', thoughtSignature }))
}

/** The text in parts: signed ones as they were signed, and what lies between. */
export function splitTextBySignature(
  text: string,
  runs: readonly SignedSpan[],
): readonly GeminiPart[] {
  const parts: GeminiPart[] = []
  let at = 0
  for (const { start, end, thoughtSignature } of runs) {
    if (start > at) parts.push({ text: text.slice(at, start) })
    parts.push({ text: text.slice(start, end), thoughtSignature })
    at = end
  }
  if (at < text.length) parts.push({ text: text.slice(at) })
  return parts
}

function isRun(value: unknown): value is SignedSpan {
  return (
    isObject(value) &&
    typeof value['start'] === 'number' &&
    typeof value['end'] === 'number' &&
    typeof value['thoughtSignature'] === 'string'
  )
}
