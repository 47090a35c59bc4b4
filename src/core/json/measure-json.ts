/**
 * Counts the values, list items and levels of JSON text before it is parsed, so that a body that would
 * take long to parse or to check is rejected at low cost. The syntax is checked later, by the parser.
 */
import { MAX_STEP_CHARS } from '../async/max-step-chars.ts'
import { yieldToEventLoop } from '../async/yield-to-event-loop.ts'

export interface JsonLimits {
  /** Maximum number of values of any type at all levels. */
  readonly maxValues: number
  /** Maximum length of a list that is a field of the body, such as `input` or `messages`. */
  readonly maxItems: number
  readonly maxDepth: number
}

/**
 * Maximum depth of a request. Functions that copy or write JSON are recursive, so a deeper value could
 * overflow the stack.
 */
export const MAX_JSON_DEPTH = 500

export interface JsonMeasure {
  /** The number of values up to the end of the text, or up to the position at which a limit is exceeded. */
  readonly values: number
  readonly exceededLimit: keyof JsonLimits | null
}

/** Measures JSON up to the first limit that it exceeds. Other requests are served while a long text is scanned. */
export async function measureJson(json: Uint8Array, limits: JsonLimits): Promise<JsonMeasure> {
  const scan = startScan(json, limits)
  for (;;) {
    const measure = scan()
    if (measure !== null) return measure
    await yieldToEventLoop()
  }
}

/** Measures JSON without a pause. Meant for limits that a long text with many values exceeds early. */
export function measureJsonAtOnce(json: Uint8Array, limits: JsonLimits): JsonMeasure {
  const scan = startScan(json, limits)
  for (;;) {
    const measure = scan()
    if (measure !== null) return measure
  }
}

/** Returns a function that scans one slice with each call, and returns null until it is done. */
function startScan(
  json: Uint8Array,
  { maxValues, maxItems, maxDepth }: JsonLimits,
): () => JsonMeasure | null {
  let next = 0
  let depth = 0
  let values = 1
  let items = 0
  let isFieldAList = false
  // True directly after an opening bracket. If the closing bracket follows, the list or object is empty.
  let isStart = false
  return () => {
    const end = Math.min(next + MAX_STEP_CHARS, json.length)
    let at = next
    for (; at < end; at++) {
      const byte = json[at]
      if (byte === SPACE || byte === NEWLINE || byte === RETURN || byte === TAB) continue
      if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        depth += 1
        values += 1
        if (depth > maxDepth) return { values, exceededLimit: 'maxDepth' }
        if (depth === FIELD_DEPTH) {
          isFieldAList = byte === OPEN_LIST
          items = 1
        }
        isStart = true
        continue
      }
      if (byte === QUOTE) at = findStringEnd(json, at + 1)
      else if (byte === COMMA) {
        values += 1
        if (depth === FIELD_DEPTH && isFieldAList) items += 1
        if (items > maxItems) return { values, exceededLimit: 'maxItems' }
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        depth -= 1
        if (isStart) values -= 1
      }
      isStart = false
      if (values > maxValues) return { values, exceededLimit: 'maxValues' }
    }
    next = at
    return next >= json.length ? { values, exceededLimit: null } : null
  }
}

/** The depth inside a list or object that is a field of the body. */
const FIELD_DEPTH = 2

/** Returns the position of the quote that ends a string, or the end of the text. */
function findStringEnd(json: Uint8Array, start: number): number {
  let from = start
  for (;;) {
    const at = findQuote(json, from)
    if (at === json.length) return at
    let backslashes = 0
    while (at - 1 - backslashes >= start && json[at - 1 - backslashes] === BACKSLASH) backslashes++
    // After an odd number of backslashes, the quote belongs to the string.
    if (backslashes % 2 === 0) return at
    from = at + 1
  }
}

/** Looks at the first bytes itself, because a call of `indexOf` takes longer than a short string. */
function findQuote(json: Uint8Array, from: number): number {
  const near = Math.min(from + 32, json.length)
  for (let at = from; at < near; at++) if (json[at] === QUOTE) return at
  const at = json.indexOf(QUOTE, near)
  return at === -1 ? json.length : at
}

const [SPACE, NEWLINE, RETURN, TAB, QUOTE, BACKSLASH, COMMA] = [32, 10, 13, 9, 34, 92, 44]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125]
