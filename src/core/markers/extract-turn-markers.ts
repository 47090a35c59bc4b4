/**
 * The line by which the text of a client that keeps nothing but text names a turn: `[<turn id>]: #`,
 * to Markdown the definition of a link that nobody uses, and hence nothing that is shown.
 *
 * Reading is lenient, for clients glue, indent and escape: an id of ours does not occur by accident.
 * Removing undoes what `gateway/respond/markers/wrap-renderer-with-marker.ts` has written, to the byte.
 */
import { trackMarkdownCodeFences } from '../text/track-markdown-code-fences.ts'
import { parseMarkerLine, MARKER_SIGNS, type MarkerLine } from './parse-marker-line.ts'
import { createTextCutter } from './text-cutter.ts'

export function formatMarkerLine(turnId: string): string {
  return `[${turnId}]: #`
}

export interface MarkerExtraction {
  /** The text without its markers. */
  readonly text: string
  /**
   * In the order in which they stand; `at` is an offset in `text`: what follows the marker begins
   * there. A turn named twice is there twice.
   */
  readonly marks: readonly { readonly turnId: string; readonly at: number }[]
}

/** The very same string as `text` where there is none. Code and quotes name no turn. */
export function extractMarkers(text: string): MarkerExtraction {
  if (!mayContainMarker(text)) return { text, marks: [] }
  const reader = readerOf(text)
  for (let at = 0; at < text.length;) at = reader.readLine(at)
  return reader.marked()
}

/**
 * A look that nearly every text passes, at the end of every marker, however it is escaped. It is taken at
 * all that a client sends, and a word is found much quicker than a pattern.
 */
export function mayContainMarker(text: string): boolean {
  const mayEnd = text.includes(': #') || text.includes(': &') || text.includes(': \\')
  return mayEnd && MAY_BE_MARKED.test(text)
}

const MAY_BE_MARKED = /[\];]: [#&\\]/

/** Everything that looks like a marker gone, damaged ones and those in fences as well: to compare words by. */
export function removeMarkerLikeText(text: string): string {
  return text.includes('[') || text.includes('&') ? text.replace(ANY_MARKER, '') : text
}

const ANY_MARKER = new RegExp(
  `${MARKER_SIGNS.open}[0-9A-HJKMNP-TV-Z]{20}${MARKER_SIGNS.close}(?::(?:[ \\t]*${MARKER_SIGNS.hash})?)?`,
  'gi',
)

/** Two line breaks in front of a marker are its own, where more are there than a text needs. */
const OWN_BREAKS = 2
/** To Markdown no other character is a blank. */
const BLANK_LINE = /^[ \t\r]*$/

function readerOf(text: string) {
  const remains = createTextCutter(text)
  const fences = trackMarkdownCodeFences()
  const marks: { readonly turnId: string; readonly at: number }[] = []
  /** Blank lines since the last line with words, of those that remain. */
  let blankLines = 0
  let hasWords = false

  const mark = (turnIds: readonly string[]): void => {
    for (const turnId of turnIds) marks.push({ turnId, at: remains.length() })
  }
  const keep = (line: string): void => {
    fences.read(line, blankLines > 0)
    blankLines = 0
    hasWords = true
  }
  const keepRest = (
    line: string,
    start: number,
    { from, to, before, behind }: MarkerLine,
  ): void => {
    remains.cut(start, start + from)
    mark(before)
    remains.cut(start + to, start + line.length)
    mark(behind)
    keep(line.slice(from, to))
  }
  /** With one blank line behind it, and with all that is blank if nothing else comes. */
  const dropLine = (start: number, next: number, { before, behind }: MarkerLine): number => {
    const isLast = wordsFrom(text, next) === text.length
    const end = isLast ? text.length : afterBlankLine(text, next)
    remains.cut(start, end)
    if (isLast || remains.breaksAtEnd(3) > (hasWords ? OWN_BREAKS : OWN_BREAKS - 1)) {
      blankLines = Math.max(0, blankLines - remains.dropBreaks(OWN_BREAKS))
    }
    mark([...before, ...behind])
    return end
  }
  return {
    /** Where the next line begins. */
    readLine(start: number): number {
      const next = lineEnd(text, start)
      const line = withoutBreak(text.slice(start, next))
      if (BLANK_LINE.test(line)) {
        blankLines += 1
        return next
      }
      const found = fences.holds(line) ? null : parseMarkerLine(line)
      if (found === null) keep(line)
      else if (found.from === found.to) return dropLine(start, next, found)
      else keepRest(line, start, found)
      return next
    },
    marked(): MarkerExtraction {
      if (marks.length === 0) return { text, marks }
      // A later marker may have taken line breaks behind which an earlier one stood.
      let limit = remains.length()
      const settled = marks.toReversed().map(({ turnId, at }) => {
        limit = Math.min(limit, at)
        return { turnId, at: limit }
      })
      return { text: remains.text(), marks: settled.toReversed() }
    },
  }
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end === -1 ? text.length : end + 1
}

function withoutBreak(line: string): string {
  if (!line.endsWith('\n')) return line
  return line.slice(0, line.endsWith('\r\n') ? -2 : -1)
}

/** Where the next words begin, or the text ends. */
function wordsFrom(text: string, start: number): number {
  let at = start
  while (isBlank(text.charCodeAt(at))) at += 1
  return at
}

/** Behind the blank line that begins here, if there is one. */
function afterBlankLine(text: string, start: number): number {
  let at = start
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\r') at += 1
  return text[at] === '\n' ? at + 1 : start
}

function isBlank(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13)
}
