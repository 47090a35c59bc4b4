/**
 * Stores and restores signatures on text. Gemini signs a part, which is the text of one chunk. The
 * signature must be sent back on exactly this text, neither joined with unsigned text nor split
 * (https://ai.google.dev/gemini-api/docs/thought-signatures). A client however receives all parts
 * as one text. So an item contains the joined text, and `native.gemini` records which spans of the
 * text are signed:
 *
 *     { signatures: [{ start, end, thoughtSignature }], chars, after }
 *
 * `chars` is the length of the complete text and shows whether a client has edited it; `after`
 * lists the signatures of empty parts after the item.
 */
import { isObject, type JsonObject } from '../../core/json/json.ts'
import type { GeminiPart } from './api-types.ts'

export type SignedSpan = {
  readonly start: number
  readonly end: number
  readonly thoughtSignature: string
}

export interface TextSignatures {
  readonly spans: readonly SignedSpan[]
  readonly chars: number
  readonly after: readonly string[]
}

/** Returns the value of `native.gemini`; `null` if no span is signed. */
export function serializeSignatures({ spans, chars, after }: TextSignatures): JsonObject | null {
  if (spans.length === 0 && after.length === 0) return null
  return {
    ...(spans.length === 0 ? {} : { signatures: spans, chars }),
    ...(after.length === 0 ? {} : { after }),
  }
}

/** Parses `native.gemini`; returns `null` if it contains no signatures. */
export function parseSignatures(native: JsonObject | undefined): TextSignatures | null {
  if (native === undefined) return null
  const listed = native['signatures']
  const { chars } = native
  const after = parseTrailingSignatures(native)
  const spans = Array.isArray(listed) ? (listed as readonly unknown[]).filter(isSignedSpan) : []
  if (spans.length === 0 && after.length === 0) return null
  return { spans, chars: typeof chars === 'number' ? chars : 0, after }
}

export function parseTrailingSignatures(native: JsonObject | undefined): readonly string[] {
  const after = native?.['after']
  return Array.isArray(after)
    ? (after as readonly unknown[]).filter((signature) => typeof signature === 'string')
    : []
}

/** Creates empty text parts that only carry a signature. */
export function createSignatureParts(signatures: readonly string[]): readonly GeminiPart[] {
  return signatures.map((thoughtSignature) => ({ text: '', thoughtSignature }))
}

/** Splits a text into its signed spans and the unsigned text between them. */
export function splitTextBySignature(
  text: string,
  spans: readonly SignedSpan[],
): readonly GeminiPart[] {
  const parts: GeminiPart[] = []
  let position = 0
  for (const { start, end, thoughtSignature } of spans) {
    if (start > position) parts.push({ text: text.slice(position, start) })
    parts.push({ text: text.slice(start, end), thoughtSignature })
    position = end
  }
  if (position < text.length) parts.push({ text: text.slice(position) })
  return parts
}

function isSignedSpan(value: unknown): value is SignedSpan {
  return (
    isObject(value) &&
    typeof value['start'] === 'number' &&
    typeof value['end'] === 'number' &&
    typeof value['thoughtSignature'] === 'string'
  )
}
