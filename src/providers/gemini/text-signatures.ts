/**
 * Stores which parts of a text Gemini has signed, so that later requests can contain the same
 * parts. Gemini signs the text of single chunks and requires each signature on exactly this text,
 * neither joined nor split (https://ai.google.dev/gemini-api/docs/thought-signatures). A client,
 * however, receives all chunks as one text. So an item contains the joined text, and its
 * `native.gemini` the signed spans:
 *
 *     { signatures: [{ start, end, thoughtSignature }], chars, after }
 *
 * `chars` is the length of the signed text: if the text of the item has another length, a client
 * has edited it. `after` lists the signatures of empty parts after the item.
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
  readonly textLength: number
  readonly trailing: readonly string[]
}

/**
 * Returns what an item stores in `native.gemini` (see the top of the file); `null` if there are no
 * signatures.
 */
export function serializeSignatures({
  spans,
  textLength,
  trailing,
}: TextSignatures): JsonObject | null {
  if (spans.length === 0 && trailing.length === 0) return null
  return {
    ...(spans.length === 0 ? {} : { signatures: spans, chars: textLength }),
    ...(trailing.length === 0 ? {} : { after: trailing }),
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
  return { spans, textLength: typeof chars === 'number' ? chars : 0, trailing: after }
}

export function parseTrailingSignatures(native: JsonObject | undefined): readonly string[] {
  const after = native?.['after']
  return Array.isArray(after)
    ? (after as readonly unknown[]).filter((signature) => typeof signature === 'string')
    : []
}

/** Creates text parts without text, each with a signature. */
export function createSignatureParts(signatures: readonly string[]): readonly GeminiPart[] {
  return signatures.map((thoughtSignature) => ({ text: '', thoughtSignature }))
}

/** Splits a text into signed spans and the unsigned text between them. */
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
