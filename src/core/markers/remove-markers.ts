/**
 * Removes every turn marker from a text that a model is sent. Unlike `extractMarkers`, which runs first
 * and restores the original text, this also finds markers inside code and quotes, in a line of JSON
 * that a tool wrote, or in the middle of a sentence.
 *
 * Line breaks that belong to a marker are removed with it, also escaped ones (`\n`, `\\n`). An escape
 * is never cut in half, so JSON stays valid.
 */
import { MARKER_SIGNS } from './parse-marker-line.ts'
import { mayContainMarker, extractMarkers } from './extract-turn-markers.ts'
import { createTextCutter } from './text-cutter.ts'

/** Returns the same string if it has no markers. */
export function removeMarkers(text: string): string {
  return mayContainMarker(text) ? removeRemaining(extractMarkers(unwrapFences(text)).text) : text
}

/** Removes code fences around a single marker, which would otherwise be left empty. */
function unwrapFences(text: string): string {
  return text.replace(FENCED, '$2')
}

/** Also removes a marker that only forms once another marker inside it is cut out. */
function removeRemaining(text: string): string {
  if (!mayContainMarker(text)) return text
  const cutter = createTextCutter(text)
  let hasMarker = false
  let from = 0
  for (const { index } of text.matchAll(LAST_CHAR)) {
    const end = index + 1
    if (end <= from) continue
    if (!MAY_END.test(cutter.endAt(end, 2))) continue
    const match = MARKER.exec(cutter.endAt(end, MAX_CHARS))
    if (match === null) continue
    const { length } = match[0]
    const before = cutter.endAt(end, length + MAX_CHARS).slice(0, -length)
    const { dropsBefore, dropsAfter } = measureDrops(before, text, end)
    from = end + dropsAfter
    cutter.cut(end, from)
    cutter.drop(length + dropsBefore)
    hasMarker = true
  }
  return hasMarker ? cutter.text() : text
}

const LAST_CHAR = /[#;]/g
/** The last two characters of every marker, plain or escaped. */
const MAY_END = /[ \\]#$|[m53];$/
/** Backslashes before a character; each level of JSON escaping doubles them. */
const ESCAPED = String.raw`\\{0,8}`
const [OPEN, CLOSE, HASH] = [MARKER_SIGNS.open, MARKER_SIGNS.close, MARKER_SIGNS.hash].map((sign) =>
  sign.replace(String.raw`\\?`, ESCAPED),
)
const PATTERN = `${OPEN}[0-9A-HJKMNP-TV-Z]{20}${CLOSE}: ${HASH}`
const MARKER = new RegExp(`${PATTERN}$`)
/** The lookbehind and the limits of 16 and 8 keep the search linear in hostile texts. */
const FENCED = new RegExp(`(?<![\`~])(\`{3,16}|~{3,16})\\s{1,8}(${PATTERN})\\s{1,8}\\1`, 'g')
/** Max length of a marker, and of the text before it that is examined. */
const MAX_CHARS = 128

interface Drops {
  readonly dropsBefore: number
  readonly dropsAfter: number
}

/** Returns how many blanks and breaks before and after a marker are removed. `before` is at most 128 characters long. */
function measureDrops(before: string, text: string, end: number): Drops {
  const breaksBefore = BREAKS_BEFORE.exec(before)?.[0] ?? ''
  const breaksAfter = matchAt(BREAKS_AFTER, text, end)
  const blanksAfter = matchAt(BLANKS, text, end).length
  const blanksBefore = /[ \t]*$/.exec(before)?.[0].length ?? 0
  const textBefore = before.slice(0, before.length - breaksBefore.length)
  const dropsAfter = Math.max(breaksAfter.length, blanksAfter)
  const next = end + dropsAfter
  const isEnd = next === text.length
  if (/^[ \t>]*$/.test(textBefore)) {
    const dropsAll = isEnd || breaksAfter !== ''
    return { dropsBefore: dropsAll ? before.length : breaksBefore.length, dropsAfter }
  }
  const isStringEnd =
    matchAt(QUOTE, text, next) !== '' && isEscaped(breaksAfter === '' ? breaksBefore : breaksAfter)
  if (isEnd || isStringEnd) {
    return { dropsBefore: breaksBefore === '' ? blanksBefore : breaksBefore.length, dropsAfter }
  }
  // The marker opens a JSON string: text before it ends with a quote. Only the escaped line breaks
  // after it are removed.
  if (breaksBefore === '' && isEscaped(breaksAfter) && /["'`]$/.test(textBefore)) {
    return { dropsBefore: 0, dropsAfter }
  }
  if (breaksBefore !== '' && breaksAfter !== '') return dropFewerBreaks(breaksBefore, breaksAfter)
  if (breaksAfter !== '') return { dropsBefore: blanksBefore, dropsAfter: 0 }
  const isSeparated = breaksBefore !== '' || blanksBefore > 0
  return { dropsBefore: 0, dropsAfter: isSeparated ? blanksAfter : 0 }
}

/** Keeps the longer sequence of breaks, and the indentation and quote signs of the next line. */
function dropFewerBreaks(before: string, after: string): Drops {
  if (countBreaks(before) <= countBreaks(after)) {
    return { dropsBefore: before.length, dropsAfter: 0 }
  }
  const prefix = /[ \t>]*$/.exec(before)?.[0].length ?? 0
  return { dropsBefore: prefix, dropsAfter: after.length }
}

/** A line break, plain or escaped in JSON, also in JSON that is a string in other JSON. */
const ESCAPE = String.raw`(?<!\\)(?:\\|\\\\|\\{4}|\\{8})`
const BREAK = String.raw`(?:\r?\n|(?:${ESCAPE}r)?${ESCAPE}n)`
const BREAKS_BEFORE = new RegExp(`(?:${BREAK}[ \\t>]*){1,8}$`)
const BREAKS_AFTER = new RegExp(`[ \\t]*${BREAK}(?:[ \\t>]*${BREAK}){0,7}`, 'y')
const BLANKS = /[ \t]*/y
const QUOTE = /\\{0,8}["'`]/y
const ANY_BREAK = new RegExp(BREAK, 'g')

function isEscaped(breaks: string): boolean {
  return breaks.includes('\\')
}

function countBreaks(text: string): number {
  return text.match(ANY_BREAK)?.length ?? 0
}

function matchAt(pattern: RegExp, text: string, index: number): string {
  pattern.lastIndex = index
  return pattern.exec(text)?.[0] ?? ''
}
