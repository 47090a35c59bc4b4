/**
 * Encodes and measures large values as JSON in steps, between which other requests are served: `JSON.stringify` of 60 MB would
 * block the process for 0.2 s.
 */
import { MAX_STEP_CHARS } from '../async/max-step-chars.ts'
import { yieldToEventLoop } from '../async/yield-to-event-loop.ts'
import type { Json, JsonObject } from './json.ts'
import { encodeWellFormedText } from './well-formed-json.ts'

/** Returns the same bytes as `createLazyJsonBytes`. */
export async function encodeJsonInSteps(value: JsonObject): Promise<Uint8Array> {
  const steps: Uint8Array[] = []
  let text = ''
  const encodeStep = async (): Promise<void> => {
    steps.push(encodeWellFormedText(text))
    text = ''
    await yieldToEventLoop()
  }
  for (const piece of stringifyInPieces(value)) {
    text += piece
    if (text.length >= MAX_STEP_CHARS) await encodeStep()
  }
  await encodeStep()
  return joinInSteps(steps)
}

/** Returns the number of bytes of the value's JSON text. */
export async function measureJsonInSteps(value: JsonObject): Promise<number> {
  let bytes = 0
  let charsInStep = 0
  for (const piece of stringifyInPieces(value)) {
    bytes += Buffer.byteLength(piece)
    charsInStep += piece.length
    if (charsInStep < MAX_STEP_CHARS) continue
    charsInStep = 0
    await yieldToEventLoop()
  }
  return bytes
}

/**
 * True if the JSON text of the value is too long for one step. Reads only as much of the value as it needs to decide
 * this.
 */
export function isLargeJson(value: Json | undefined): boolean {
  return isJsonLongerThan(value, MAX_STEP_CHARS)
}

export function isJsonLongerThan(value: Json | undefined, maxChars: number): boolean {
  return countRemainingChars(value, maxChars) < 0
}

async function joinInSteps(steps: readonly Uint8Array[]): Promise<Uint8Array> {
  const joined = new Uint8Array(steps.reduce((sum, { length }) => sum + length, 0))
  let length = 0
  for (const step of steps) {
    joined.set(step, length)
    length += step.length
    await yieldToEventLoop()
  }
  return joined
}

function* stringifyInPieces(value: Json): Generator<string, void> {
  if (!isLargeJson(value)) yield JSON.stringify(value)
  else if (typeof value === 'string') yield* stringifyTextInPieces(value)
  else if (Array.isArray(value)) {
    let separator = '['
    for (const element of value) {
      yield separator
      yield* stringifyInPieces(element)
      separator = ','
    }
    yield ']'
  } else {
    let separator = '{'
    for (const [name, field] of Object.entries(value as JsonObject)) {
      if (field === undefined) continue
      yield `${separator}${JSON.stringify(name)}:`
      yield* stringifyInPieces(field)
      separator = ','
    }
    yield '}'
  }
}

/** Cuts the text, but never inside of a surrogate pair. */
function* stringifyTextInPieces(text: string): Generator<string, void> {
  yield '"'
  for (let start = 0; start < text.length;) {
    const end = start + MAX_STEP_CHARS
    const isPairCut = isLowSurrogate(text.charCodeAt(end))
    const piece = text.slice(start, isPairCut ? end - 1 : end)
    yield JSON.stringify(piece).slice(1, -1)
    start += piece.length
  }
  yield '"'
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}

/** Subtracts the approximate length of the value's JSON text. Stops as soon as the result is below zero. */
function countRemainingChars(value: Json | undefined, maxChars: number): number {
  if (typeof value === 'string') return maxChars - value.length
  let remaining = maxChars - 1
  if (typeof value !== 'object' || value === null) return remaining
  if (Array.isArray(value)) {
    for (const element of value) {
      remaining = countRemainingChars(element, remaining)
      if (remaining < 0) return remaining
    }
    return remaining
  }
  const fields = value as JsonObject
  // `Object.entries` takes eight times as long.
  for (const name in fields) {
    remaining = countRemainingChars(fields[name], remaining - name.length)
    if (remaining < 0) return remaining
  }
  return remaining
}
