/**
 * Shortens JSON so that it stays JSON, and a model can see what it was: fields and short values stay,
 * long strings keep their beginning and their end, long lists their first and last elements, and
 * whatever is left out is counted in its place.
 *
 * The room is shared out from the outside in: what is short is whole, and what is long shares the
 * rest. The same text always gives the same result, and a long number is still the one that was written.
 */
import { isObject, type JsonObject } from '../../core/json/json.ts'
import { splitHeadAndTail } from './split-head-and-tail.ts'

/**
 * At most `limit` characters; the text itself if it has no more. `null` for what is no object and no
 * list, and for what cannot be made short enough in this way.
 */
export function shortenJson(text: string, limit: number): string | null {
  if (text.length > MAX_CHARS || !looksLikeJson(text)) return null
  const value = parsed(text)
  if (typeof value !== 'object' || value === null) return null
  if (text.length <= limit) return text
  const short = told(value, limit, 0)
  // Where not one field or element has a place, only the count of them would be left.
  return short.length <= limit && !short.startsWith('"') ? short : null
}

/** To read what is longer takes too much time, for it is done anew on each request. */
const MAX_CHARS = 200_000

/** What lies deeper is told whole or not at all. */
const MAX_DEPTH = 8

/** Room for a count of what is left out, and for any number. */
const FLOOR = 44

function looksLikeJson(text: string): boolean {
  const start = text.trimStart().charAt(0)
  const end = text.trimEnd().at(-1)
  return (start === '{' && end === '}') || (start === '[' && end === ']')
}

function parsed(text: string): unknown {
  try {
    return /\d{16}/.test(text) ? JSON.parse(text, withExactNumber) : JSON.parse(text)
  } catch {
    return null
  }
}

/** An id of twenty digits would come out of `JSON.parse` as that of something else. */
function withExactNumber(_: string, value: unknown, context?: { readonly source?: string }) {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source ?? ''
  return /^-?\d{1,40}$/.test(source) ? BigInt(source) : value
}

/** Longer than `room` only where that is less than `FLOOR`. */
function told(value: unknown, room: number, depth: number): string {
  const all = whole(value, room)
  if (all !== null) return all
  if (typeof value === 'string') return cutString(value, room)
  const isTight = depth >= MAX_DEPTH || room < FLOOR
  if (Array.isArray(value)) {
    return isTight ? countOf(value.length, 'element') : cutList(value, room, depth)
  }
  if (!isObject(value)) return scalar(value)
  const entries = Object.entries(value)
  return isTight ? countOf(entries.length, 'field') : cutObject(entries, room, depth)
}

/** `null` for what is longer than `room`; it is read no further. */
function whole(value: unknown, room: number): string | null {
  if (typeof value === 'string' && value.length + 2 > room) return null
  if (Array.isArray(value)) return wholeList(value, room)
  if (isObject(value)) return wholeObject(value, room)
  const text = scalar(value)
  return text.length <= room ? text : null
}

function scalar(value: unknown): string {
  if (typeof value === 'bigint' || Number.isFinite(value)) return String(value)
  // Most of what is asked for is a short word, which is dear to write the long way.
  return typeof value === 'string' && PLAIN.test(value) ? `"${value}"` : JSON.stringify(value)
}

/** Nothing in it has to be escaped. */
const PLAIN = /^[ !#-[\]-~]*$/

function wholeList(list: readonly unknown[], room: number): string | null {
  if (list.length * 2 > room) return null
  let text = '['
  for (const value of list) {
    const separator = text.length === 1 ? '' : ','
    const next = whole(value, room - text.length - separator.length - 1)
    if (next === null) return null
    text += separator + next
  }
  return text.length < room ? `${text}]` : null
}

function wholeObject(object: JsonObject, room: number): string | null {
  let text = '{'
  for (const name of Object.keys(object)) {
    const separator = text.length === 1 ? '' : ','
    const key = whole(name, room - text.length - separator.length - 1)
    if (key === null) return null
    text += `${separator}${key}:`
    const next = whole(object[name], room - text.length - 1)
    if (next === null) return null
    text += next
  }
  return text.length < room ? `${text}}` : null
}

function cutString(text: string, room: number): string {
  let chars = room - FLOOR
  while (chars > 2) {
    const tailChars = Math.floor(chars / 3)
    const { head, tail, leftOut } = splitHeadAndTail(text, chars - tailChars, tailChars)
    const short = JSON.stringify(`${head} ${leftOutOf(leftOut, 'character')} ${tail}`)
    if (short.length <= room) return short
    // Some characters are written as several.
    chars = Math.min(chars - 1, Math.floor((chars * room) / short.length))
  }
  return countOf(text.length, 'character')
}

/** Stands in the place of what it counts. */
function countOf(count: number, what: string): string {
  return JSON.stringify(leftOutOf(count, what))
}

function leftOutOf(count: number, what: string): string {
  return `… ${count} ${what}${count === 1 ? '' : 's'} left out …`
}

/** First and last share the room; if they leave any, it is for others that are short. */
function cutList(list: readonly unknown[], room: number, depth: number): string {
  const front: string[] = []
  const back: string[] = []
  let rest = list.length > 1 ? room - FLOOR : room - 1
  for (let turn = 0; front.length + back.length < list.length; turn += 1) {
    const isFromBack = turn % 3 === 1
    const value = isFromBack ? list[list.length - 1 - back.length] : list[front.length]
    const share = turn === 0 && list.length > 1 ? Math.floor(rest / 2) : rest
    const text = turn < 2 ? told(value, share - 1, depth + 1) : whole(value, rest - 1)
    if (text === null || text.length >= rest) break
    rest -= text.length + 1
    if (isFromBack) back.push(text)
    else front.push(text)
  }
  const kept = front.length + back.length
  const note = countOf(list.length - kept, 'element')
  if (kept === 0) return note
  const gap = kept < list.length ? [note] : []
  return `[${[...front, ...gap, ...back.toReversed()].join(',')}]`
}

interface Field {
  readonly key: string
  readonly value: unknown
  /** How long it is; `Infinity` for what does not fit in any case. */
  readonly chars: number
}

type Entries = readonly (readonly [string, unknown])[]

function cutObject(entries: Entries, room: number, depth: number): string {
  const all = fieldsFor(entries, room)
  const fields = all.length === entries.length ? all : fieldsFor(entries, room - FLOOR)
  const missing = entries.length - fields.length
  if (fields.length === 0) return countOf(missing, 'field')
  const keys = fields.reduce((sum, { key }) => sum + key.length + 2, 2)
  const share = shareOf(fields, room - keys - (missing > 0 ? FLOOR : 0))
  let spare = 0
  const texts = fields.map(({ key, value, chars }) => {
    const allowed = share + (chars > share ? spare : 0)
    const text = told(value, allowed, depth + 1)
    if (chars > share) spare = Math.max(0, allowed - text.length)
    return `${key}:${text}`
  })
  if (missing > 0) texts.push(`"…":${countOf(missing, 'field')}`)
  return `{${texts.join(',')}}`
}

/** The first fields, as many as have a place with at least so much of their values as can be told. */
function fieldsFor(entries: Entries, room: number): Field[] {
  const fields: Field[] = []
  let rest = room - 2
  for (const [name, value] of entries) {
    const key = whole(name, rest)
    if (key === null) break
    const chars = whole(value, room)?.length ?? Infinity
    rest -= key.length + 2 + Math.min(chars, FLOOR)
    if (rest < 0) break
    fields.push({ key, value, chars })
  }
  return fields
}

/** How long a value may be, so that all fit: what is shorter leaves the rest of its share to others. */
function shareOf(fields: readonly Field[], room: number): number {
  let rest = room
  let open = fields.length
  for (const { chars } of fields.toSorted((a, b) => a.chars - b.chars)) {
    if (chars > rest / open) break
    rest -= chars
    open -= 1
  }
  return open === 0 ? room : Math.floor(rest / open)
}
