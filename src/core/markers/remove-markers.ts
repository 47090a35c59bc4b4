/**
 * Removes every turn marker from a text that a model is sent. Unlike `extractMarkers`, which is used
 * first, this also finds markers in code, quotes, JSON that a tool wrote, and in the middle of a sentence.
 *
 * The line breaks around a marker are removed with it, also escaped ones (`\n`, `\\n`). No escape is
 * cut in half, so JSON stays valid.
 */
import { MARKER_SIGN_PATTERNS } from './parse-marker-line.ts'
import { mayContainMarker, extractMarkers } from './format-and-extract-markers.ts'
import { createTextCutter } from './text-cutter.ts'

/** Returns the text without markers; the same string if it has none. */
export function removeMarkers(text: string): string {
  return mayContainMarker(text) ? removeRemaining(extractMarkers(unwrapFences(text)).text) : text
}

/** Removes a code fence that contains only a marker, because it would be empty without the marker. */
function unwrapFences(text: string): string {
  return text.replace(FENCED, '$2')
}

/** Removes the markers that `extractMarkers` has not found, and those that a removal creates, e.g. around a nested marker. */
function removeRemaining(text: string): string {
  if (!mayContainMarker(text)) return text
  const cutter = createTextCutter(text)
  let hasMarker = false
  let from = 0
  for (const { index } of text.matchAll(LAST_CHAR)) {
    const end = index + 1
    if (end <= from) continue
    if (!MAY_END.test(cutter.lastCharsBefore(end, 2))) continue
    const match = MARKER.exec(cutter.lastCharsBefore(end, MAX_CHARS))
    if (match === null) continue
    const { length } = match[0]
    const before = cutter.lastCharsBefore(end, length + MAX_CHARS).slice(0, -length)
    const removed = measureCharsToRemove(before, text, end)
    from = end + removed.after
    cutter.cut(end, from)
    cutter.dropChars(length + removed.before)
    hasMarker = true
  }
  return hasMarker ? cutter.joinKeptText() : text
}

const LAST_CHAR = /[#;]/g
/** Matches the last two characters of a marker, plain or escaped. */
const MAY_END = /[ \\]#$|[m53];$/
/** Pattern for the backslashes before an escaped character; each level of JSON in JSON doubles them. */
const ESCAPED = String.raw`\\{0,8}`
const [OPEN, CLOSE, HASH] = [
  MARKER_SIGN_PATTERNS.open,
  MARKER_SIGN_PATTERNS.close,
  MARKER_SIGN_PATTERNS.hash,
].map((sign) => sign.replace(String.raw`\\?`, ESCAPED))
const PATTERN = `${OPEN}[0-9A-HJKMNP-TV-Z]{20}${CLOSE}: ${HASH}`
const MARKER = new RegExp(`${PATTERN}$`)
/** Matches a code fence around one marker. The lookbehind and the limits 16 and 8 keep the search linear in any text. */
const FENCED = new RegExp(`(?<![\`~])(\`{3,16}|~{3,16})\\s{1,8}(${PATTERN})\\s{1,8}\\1`, 'g')
/**
 * Upper bound of the length of a marker, whose brackets may be escaped. Of the text before a marker, at most this
 * many characters are searched for blanks and line breaks.
 */
const MAX_CHARS = 128

interface CharsToRemove {
  readonly before: number
  readonly after: number
}

/** Returns how many blanks and line breaks around a marker are removed. `textBefore` has at most 128 characters. */
function measureCharsToRemove(textBefore: string, text: string, end: number): CharsToRemove {
  const breaksBefore = BREAKS_BEFORE.exec(textBefore)?.[0] ?? ''
  const breaksAfter = matchAt(BREAKS_AFTER, text, end)
  const blanksAfter = matchAt(BLANKS, text, end).length
  const blanksBefore = /[ \t]*$/.exec(textBefore)?.[0].length ?? 0
  const lineBefore = textBefore.slice(0, textBefore.length - breaksBefore.length)
  const after = Math.max(breaksAfter.length, blanksAfter)
  const next = end + after
  const isEnd = next === text.length
  if (/^[ \t>]*$/.test(lineBefore)) {
    const removesAll = isEnd || breaksAfter !== ''
    return { before: removesAll ? textBefore.length : breaksBefore.length, after }
  }
  const isStringEnd =
    matchAt(QUOTE, text, next) !== '' && isEscaped(breaksAfter === '' ? breaksBefore : breaksAfter)
  if (isEnd || isStringEnd) {
    return { before: breaksBefore === '' ? blanksBefore : breaksBefore.length, after }
  }
  // If the marker is at the start of a JSON string, i.e. after a quote, removes only the escaped line
  // breaks after it.
  if (breaksBefore === '' && isEscaped(breaksAfter) && /["'`]$/.test(lineBefore)) {
    return { before: 0, after }
  }
  if (breaksBefore !== '' && breaksAfter !== '') return removeFewerBreaks(breaksBefore, breaksAfter)
  if (breaksAfter !== '') return { before: blanksBefore, after: 0 }
  const isSeparated = breaksBefore !== '' || blanksBefore > 0
  return { before: 0, after: isSeparated ? blanksAfter : 0 }
}

/** Returns the characters of the shorter sequence of line breaks. The indentation and `>` signs of the next line stay. */
function removeFewerBreaks(before: string, after: string): CharsToRemove {
  if (countBreaks(before) <= countBreaks(after)) {
    return { before: before.length, after: 0 }
  }
  const prefix = /[ \t>]*$/.exec(before)?.[0].length ?? 0
  return { before: prefix, after: after.length }
}

/** Pattern for the backslashes of an escape in JSON, also if that JSON is a string in other JSON. */
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
