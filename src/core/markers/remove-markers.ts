/**
 * A text in which no marker is left, wherever it stands: what a model is given. A tool has put it into
 * a line of JSON, a user behind a `>`, a channel into the middle of a sentence. Here nothing is
 * recalled, so that fences and quotes make no difference, and what `extractMarkers` takes away to the byte
 * it has taken away before.
 *
 * The line breaks of a marker go with it, so that those of its place are left, and so do breaks that
 * are escaped, once or several times over. An escape goes as a whole or stays: JSON stays JSON.
 */
import { MARKER_SIGNS } from './parse-marker-line.ts'
import { mayContainMarker, extractMarkers } from './extract-turn-markers.ts'
import { createTextCutter } from './text-cutter.ts'

/** The very same string if there is none. */
export function removeMarkers(text: string): string {
  return mayContainMarker(text) ? withoutHidden(extractMarkers(unfenced(text)).text) : text
}

/** A fence with nothing in it but a marker was put around that: it would be left empty. */
function unfenced(text: string): string {
  return text.replace(FENCED, '$2')
}

/** A marker that is made by what was taken out of its middle is one, too. */
function withoutHidden(text: string): string {
  if (!mayContainMarker(text)) return text
  const remains = createTextCutter(text)
  let isMarked = false
  let from = 0
  for (const { index } of text.matchAll(LAST_SIGN)) {
    const end = index + 1
    if (end <= from) continue
    if (!MAY_END.test(remains.endAt(end, 2))) continue
    const found = MARKER.exec(remains.endAt(end, MOST_CHARS))
    if (found === null) continue
    const { length } = found[0]
    const before = remains.endAt(end, length + MOST_CHARS).slice(0, -length)
    const { dropsBefore, dropsBehind } = dropsAt(before, text, end)
    from = end + dropsBehind
    remains.cut(end, from)
    remains.drop(length + dropsBefore)
    isMarked = true
  }
  return isMarked ? remains.text() : text
}

const LAST_SIGN = /[#;]/g
/** What stands in front of it in every marker, however it is written. */
const MAY_END = /[ \\]#$|[m53];$/
/** An escape of an escape is one of those, too, in pairs. */
const ESCAPED = String.raw`\\{0,8}`
const [OPEN, CLOSE, HASH] = [MARKER_SIGNS.open, MARKER_SIGNS.close, MARKER_SIGNS.hash].map((sign) =>
  sign.replace(String.raw`\\?`, ESCAPED),
)
const SIGN = `${OPEN}[0-9A-HJKMNP-TV-Z]{20}${CLOSE}: ${HASH}`
const MARKER = new RegExp(`${SIGN}$`)
/** Each run of signs is looked at once, and not for longer than anybody writes one. */
const FENCED = new RegExp(`(?<![\`~])(\`{3,16}|~{3,16})\\s{1,8}(${SIGN})\\s{1,8}\\1`, 'g')
/** No marker is longer; and so much is looked at of what stands in front of one. */
const MOST_CHARS = 128

interface Drops {
  readonly dropsBefore: number
  readonly dropsBehind: number
}

/** What goes with a marker. `before` is what stands in front of it, as far as it is looked at. */
function dropsAt(before: string, text: string, end: number): Drops {
  const run = BREAKS_BEFORE.exec(before)?.[0] ?? ''
  const behind = matchAt(BREAKS_BEHIND, text, end)
  const blanksBehind = matchAt(BLANKS, text, end).length
  const blanksBefore = /[ \t]*$/.exec(before)?.[0].length ?? 0
  const lead = before.slice(0, before.length - run.length)
  const dropsBehind = Math.max(behind.length, blanksBehind)
  const next = end + dropsBehind
  const isEnd = next === text.length
  if (/^[ \t>]*$/.test(lead)) {
    return { dropsBefore: isEnd || behind !== '' ? before.length : run.length, dropsBehind }
  }
  const isEnded = matchAt(QUOTE, text, next) !== '' && isEscaped(behind === '' ? run : behind)
  if (isEnd || isEnded) return { dropsBefore: run === '' ? blanksBefore : run.length, dropsBehind }
  // A text that begins in JSON.
  if (run === '' && isEscaped(behind) && /["'`]$/.test(lead)) return { dropsBefore: 0, dropsBehind }
  if (run !== '' && behind !== '') return breaksBetween(run, behind)
  if (behind !== '') return { dropsBefore: blanksBefore, dropsBehind: 0 }
  const isParted = run !== '' || blanksBefore > 0
  return { dropsBefore: 0, dropsBehind: isParted ? blanksBehind : 0 }
}

/** Those stay that are more; but the line behind has its own indentation, and its own marks of a quote. */
function breaksBetween(run: string, behind: string): Drops {
  if (breaksIn(run) <= breaksIn(behind)) return { dropsBefore: run.length, dropsBehind: 0 }
  const prefix = /[ \t>]*$/.exec(run)?.[0].length ?? 0
  return { dropsBefore: prefix, dropsBehind: behind.length }
}

/** A line break, or how it is written in JSON, in JSON within JSON, and so on. */
const ESCAPE = String.raw`(?<!\\)(?:\\|\\\\|\\{4}|\\{8})`
const BREAK = String.raw`(?:\r?\n|(?:${ESCAPE}r)?${ESCAPE}n)`
const BREAKS_BEFORE = new RegExp(`(?:${BREAK}[ \\t>]*){1,8}$`)
const BREAKS_BEHIND = new RegExp(`[ \\t]*${BREAK}(?:[ \\t>]*${BREAK}){0,7}`, 'y')
const BLANKS = /[ \t]*/y
const QUOTE = /\\{0,8}["'`]/y
const ANY_BREAK = new RegExp(BREAK, 'g')

function isEscaped(breaks: string): boolean {
  return breaks.includes('\\')
}

function breaksIn(run: string): number {
  return run.match(ANY_BREAK)?.length ?? 0
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ''
}
