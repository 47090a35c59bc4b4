/**
 * Shortens JSON so that it stays valid JSON and a model can recognize its structure. Fields and short values
 * stay if possible. Long strings keep their beginning and end, long lists their first and last elements. A count
 * replaces each omitted middle, e.g. `"… 12 elements left out …"`. Of an object with too many fields, the first stay.
 *
 * Short values stay complete, and long values share the remaining characters, first on the outermost level. The
 * same text always gives the same result. Long integers keep all digits.
 */
import { isObject, type JsonObject } from '../../core/json/json.ts'
import { MAX_JSON_DEPTH } from '../../core/json/measure-json.ts'
import { splitHeadAndTail } from './split-head-and-tail.ts'

/**
 * Returns JSON of at most `limit` characters, or the text itself if it is short enough. Returns `null` if the
 * text is not a JSON object or list, or cannot be made short enough.
 */
export function shortenJson(text: string, limit: number): string | null {
  if (text.length > MAX_CHARS || !looksLikeJson(text)) return null
  const value = parse(text)
  if (typeof value !== 'object' || value === null) return null
  if (text.length <= limit) return text
  const short = render(value, limit, 0)
  // A result that is a string is only a count, e.g. `"… 3 fields left out …"`: no field or element fits.
  return short.length <= limit && !short.startsWith('"') ? short : null
}

/** Max length of a text that is parsed. Longer texts take too much time. */
const MAX_CHARS = 200_000

/** Objects and lists below this depth either stay complete or are replaced by a note with a count. */
const MAX_DEPTH = 8

/**
 * Space that any note in place of a value needs, e.g. `"… 120 fields left out …"`. An object or list with less
 * space is replaced by such a note.
 */
const MIN_VALUE_CHARS = 44

function looksLikeJson(text: string): boolean {
  const start = text.trimStart().charAt(0)
  const end = text.trimEnd().at(-1)
  return (start === '{' && end === '}') || (start === '[' && end === ']')
}

function parse(text: string): unknown {
  try {
    return /\d{16}/.test(text) ? JSON.parse(text, reviveExactInteger) : JSON.parse(text)
  } catch {
    return null
  }
}

/** Reads integers beyond 2^53 as `BigInt`: `JSON.parse` would change the digits of a 20-digit id. */
function reviveExactInteger(_: string, value: unknown, context?: { readonly source?: string }) {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source ?? ''
  return /^-?\d{1,40}$/.test(source) ? BigInt(source) : value
}

/** Renders a value as JSON of at most `maxChars` characters, or `MIN_VALUE_CHARS` if that is more. */
function render(value: unknown, maxChars: number, depth: number): string {
  const complete = renderComplete(value, maxChars)
  if (complete !== null) return complete
  if (typeof value === 'string') return cutString(value, maxChars)
  const isTight = depth >= MAX_DEPTH || maxChars < MIN_VALUE_CHARS
  if (Array.isArray(value)) {
    return isTight ? renderCount(value.length, 'element') : cutList(value, maxChars, depth)
  }
  if (!isObject(value)) return renderScalar(value)
  const entries = Object.entries(value)
  return isTight ? renderCount(entries.length, 'field') : cutObject(entries, maxChars, depth)
}

/** Renders a complete value as JSON, or returns `null` as soon as it exceeds `maxChars` or `MAX_JSON_DEPTH`. */
function renderComplete(value: unknown, maxChars: number, level = 0): string | null {
  if (typeof value === 'string' && value.length + 2 > maxChars) return null
  if (level > MAX_JSON_DEPTH) return null
  if (Array.isArray(value)) return renderCompleteList(value, maxChars, level)
  if (isObject(value)) return renderCompleteObject(value, maxChars, level)
  const text = renderScalar(value)
  return text.length <= maxChars ? text : null
}

function renderScalar(value: unknown): string {
  if (typeof value === 'bigint' || Number.isFinite(value)) return String(value)
  // Most strings are short and plain, and `JSON.stringify` is slow for them.
  return typeof value === 'string' && UNESCAPED.test(value) ? `"${value}"` : JSON.stringify(value)
}

/** Matches texts of printable ASCII in which JSON escapes nothing. */
const UNESCAPED = /^[ !#-[\]-~]*$/

function renderCompleteList(
  list: readonly unknown[],
  maxChars: number,
  level: number,
): string | null {
  if (list.length * 2 > maxChars) return null
  let text = '['
  for (const value of list) {
    const separator = text.length === 1 ? '' : ','
    const next = renderComplete(value, maxChars - text.length - separator.length - 1, level + 1)
    if (next === null) return null
    text += separator + next
  }
  return text.length < maxChars ? `${text}]` : null
}

function renderCompleteObject(object: JsonObject, maxChars: number, level: number): string | null {
  let text = '{'
  for (const name of Object.keys(object)) {
    const separator = text.length === 1 ? '' : ','
    const key = renderComplete(name, maxChars - text.length - separator.length - 1)
    if (key === null) return null
    text += `${separator}${key}:`
    const next = renderComplete(object[name], maxChars - text.length - 1, level + 1)
    if (next === null) return null
    text += next
  }
  return text.length < maxChars ? `${text}}` : null
}

function cutString(text: string, maxChars: number): string {
  let chars = maxChars - MIN_VALUE_CHARS
  while (chars > 2) {
    const tailChars = Math.floor(chars / 3)
    const { head, tail, omittedChars } = splitHeadAndTail(text, chars - tailChars, tailChars)
    const short = JSON.stringify(`${head} ${describeOmission(omittedChars, 'character')} ${tail}`)
    if (short.length <= maxChars) return short
    // The result may be too long, because JSON escapes some characters, e.g. a line break as `\n`.
    chars = Math.min(chars - 1, Math.floor((chars * maxChars) / short.length))
  }
  return renderCount(text.length, 'character')
}

/** Renders the replacement for omitted values, e.g. `"… 3 fields left out …"`. */
function renderCount(count: number, noun: string): string {
  return JSON.stringify(describeOmission(count, noun))
}

function describeOmission(count: number, noun: string): string {
  return `… ${count} ${noun}${count === 1 ? '' : 's'} left out …`
}

/** Renders a list with its first and last element, shortened to fit, and with further elements that fit completely. */
function cutList(list: readonly unknown[], maxChars: number, depth: number): string {
  const first: string[] = []
  const last: string[] = []
  let rest = list.length > 1 ? maxChars - MIN_VALUE_CHARS : maxChars - 1
  for (let pick = 0; first.length + last.length < list.length; pick += 1) {
    const isFromEnd = pick % 3 === 1
    const value = isFromEnd ? list[list.length - 1 - last.length] : list[first.length]
    const share = pick === 0 && list.length > 1 ? Math.floor(rest / 2) : rest
    const text = pick < 2 ? render(value, share - 1, depth + 1) : renderComplete(value, rest - 1)
    if (text === null || text.length >= rest) break
    rest -= text.length + 1
    if (isFromEnd) last.push(text)
    else first.push(text)
  }
  const kept = first.length + last.length
  const note = renderCount(list.length - kept, 'element')
  if (kept === 0) return note
  const gap = kept < list.length ? [note] : []
  return `[${[...first, ...gap, ...last.toReversed()].join(',')}]`
}

interface Field {
  readonly key: string
  readonly value: unknown
  /** The length of the complete value as JSON; `Infinity` if that is more than the complete object may have. */
  readonly chars: number
}

type Entries = readonly (readonly [string, unknown])[]

function cutObject(entries: Entries, maxChars: number, depth: number): string {
  const all = selectFields(entries, maxChars)
  const fields =
    all.length === entries.length ? all : selectFields(entries, maxChars - MIN_VALUE_CHARS)
  const missing = entries.length - fields.length
  if (fields.length === 0) return renderCount(missing, 'field')
  const keys = fields.reduce((sum, { key }) => sum + key.length + 2, 2)
  const share = computeShare(fields, maxChars - keys - (missing > 0 ? MIN_VALUE_CHARS : 0))
  let spare = 0
  const texts = fields.map(({ key, value, chars }) => {
    const allowed = share + (chars > share ? spare : 0)
    const text = render(value, allowed, depth + 1)
    if (chars > share) spare = Math.max(0, allowed - text.length)
    return `${key}:${text}`
  })
  if (missing > 0) texts.push(`"…":${renderCount(missing, 'field')}`)
  return `{${texts.join(',')}}`
}

/**
 * Returns the first fields of an object, as many as fit if each value gets `MIN_VALUE_CHARS` characters, or less if its
 * complete JSON is shorter.
 */
function selectFields(entries: Entries, maxChars: number): Field[] {
  const fields: Field[] = []
  let rest = maxChars - 2
  for (const [name, value] of entries) {
    const key = renderComplete(name, rest)
    if (key === null) break
    const chars = renderComplete(value, maxChars)?.length ?? Infinity
    rest -= key.length + 2 + Math.min(chars, MIN_VALUE_CHARS)
    if (rest < 0) break
    fields.push({ key, value, chars })
  }
  return fields
}

/**
 * Shares `maxChars` among the values of an object: returns the max length of each value with which all fit. Short
 * values leave characters to longer values.
 */
function computeShare(fields: readonly Field[], maxChars: number): number {
  let rest = maxChars
  let open = fields.length
  for (const { chars } of fields.toSorted((a, b) => a.chars - b.chars)) {
    if (chars > rest / open) break
    rest -= chars
    open -= 1
  }
  return open === 0 ? maxChars : Math.floor(rest / open)
}
