/**
 * Formats turn markers and extracts them from text. A marker is a line `[<turn id>]: #`, which names a
 * turn for clients that send back only text. Markdown reads the line as an unused link definition and
 * displays nothing.
 *
 * Extraction accepts markers that a client joined to text, indented or escaped: a turn id never
 * occurs by accident. The remaining text is byte for byte the one before
 * `gateway/respond/markers/wrap-renderer-with-marker.ts` added the marker.
 */
import { trackMarkdownCodeFences } from '../text/track-markdown-code-fences.ts'
import { parseMarkerLine, MARKER_SIGNS, type MarkerLine } from './parse-marker-line.ts'
import { createTextCutter } from './text-cutter.ts'

export function formatMarkerLine(turnId: string): string {
  return `[${turnId}]: #`
}

export interface MarkerExtraction {
  /** The text without markers. */
  readonly text: string
  /** All markers in order, repeated ones included; `at` is the offset in `text` where the marker was. */
  readonly marks: readonly { readonly turnId: string; readonly at: number }[]
}

/** Returns the same string as `text` if it has no markers. Markers in code and quotes are ignored. */
export function extractMarkers(text: string): MarkerExtraction {
  if (!mayContainMarker(text)) return { text, marks: [] }
  const reader = createMarkerReader(text)
  for (let index = 0; index < text.length;) index = reader.readLine(index)
  return reader.result()
}

/** Checks cheaply for the end of a marker, escaped or not. `includes` comes first because it is faster than a pattern. */
export function mayContainMarker(text: string): boolean {
  const hasEnding = text.includes(': #') || text.includes(': &') || text.includes(': \\')
  return hasEnding && MARKER_ENDING.test(text)
}

const MARKER_ENDING = /[\];]: [#&\\]/

/** Removes everything that looks like a marker, damaged ones and those in code included, to compare texts. */
export function removeMarkerLikeText(text: string): string {
  return text.includes('[') || text.includes('&') ? text.replace(ANY_MARKER, '') : text
}

const ANY_MARKER = new RegExp(
  `${MARKER_SIGNS.open}[0-9A-HJKMNP-TV-Z]{20}${MARKER_SIGNS.close}(?::(?:[ \\t]*${MARKER_SIGNS.hash})?)?`,
  'gi',
)

/** Line breaks before a marker that were added with it, if the text has more than it needs itself. */
const MARKER_BREAKS = 2
/** Markdown counts no other characters as blank. */
const BLANK_LINE = /^[ \t\r]*$/

function createMarkerReader(text: string) {
  const cutter = createTextCutter(text)
  const fences = trackMarkdownCodeFences()
  const marks: { readonly turnId: string; readonly at: number }[] = []
  /** Remaining blank lines since the last line with text. */
  let blankLines = 0
  let hasText = false

  const addMarks = (turnIds: readonly string[]): void => {
    for (const turnId of turnIds) marks.push({ turnId, at: cutter.length() })
  }
  const keepLine = (line: string): void => {
    fences.read(line, blankLines > 0)
    blankLines = 0
    hasText = true
  }
  const keepTextBetween = (
    line: string,
    start: number,
    { from, to, before, after }: MarkerLine,
  ): void => {
    cutter.cut(start, start + from)
    addMarks(before)
    cutter.cut(start + to, start + line.length)
    addMarks(after)
    keepLine(line.slice(from, to))
  }
  /** Removes the line and one blank line after it; at the end of the text also all remaining blanks. */
  const dropLine = (start: number, next: number, { before, after }: MarkerLine): number => {
    const isLast = skipBlanks(text, next) === text.length
    const end = isLast ? text.length : skipBlankLine(text, next)
    cutter.cut(start, end)
    if (isLast || cutter.breaksAtEnd(3) > (hasText ? MARKER_BREAKS : MARKER_BREAKS - 1)) {
      blankLines = Math.max(0, blankLines - cutter.dropBreaks(MARKER_BREAKS))
    }
    addMarks([...before, ...after])
    return end
  }
  return {
    /** Returns the index of the next line. */
    readLine(start: number): number {
      const next = lineEnd(text, start)
      const line = removeLineBreak(text.slice(start, next))
      if (BLANK_LINE.test(line)) {
        blankLines += 1
        return next
      }
      const markerLine = fences.holds(line) ? null : parseMarkerLine(line)
      if (markerLine === null) keepLine(line)
      else if (markerLine.from === markerLine.to) return dropLine(start, next, markerLine)
      else keepTextBetween(line, start, markerLine)
      return next
    },
    result(): MarkerExtraction {
      if (marks.length === 0) return { text, marks }
      // A later marker may have removed line breaks before which an earlier one has its offset.
      let limit = cutter.length()
      const limited = marks.toReversed().map(({ turnId, at }) => {
        limit = Math.min(limit, at)
        return { turnId, at: limit }
      })
      return { text: cutter.text(), marks: limited.toReversed() }
    },
  }
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end === -1 ? text.length : end + 1
}

function removeLineBreak(line: string): string {
  if (!line.endsWith('\n')) return line
  return line.slice(0, line.endsWith('\r\n') ? -2 : -1)
}

function skipBlanks(text: string, start: number): number {
  let index = start
  while (isBlank(text.charCodeAt(index))) index += 1
  return index
}

/** Returns the index after the blank line at `start`, or `start` if there is none. */
function skipBlankLine(text: string, start: number): number {
  let index = start
  while (text[index] === ' ' || text[index] === '\t' || text[index] === '\r') index += 1
  return text[index] === '\n' ? index + 1 : start
}

function isBlank(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13)
}
