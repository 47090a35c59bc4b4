/**
 * Formats turn markers and extracts them from text. A marker is a line `[<turn id>]: #` in an answer, by
 * which the gateway finds the turn when a client sends back only text. Markdown reads the line as an
 * unused link definition and displays nothing.
 *
 * Extraction also accepts markers that a client indented, escaped or joined to other text. It returns
 * exactly the text before `gateway/respond/markers/wrap-renderer-with-marker.ts` added the marker.
 */
import { createCodeFenceTracker } from '../text/track-markdown-code-fences.ts'
import {
  parseMarkerLine,
  MARKER_SIGN_PATTERNS,
  skipBlanks,
  type MarkerLine,
} from './parse-marker-line.ts'
import { createTextCutter } from './text-cutter.ts'

export function formatMarkerLine(turnId: string): string {
  return `[${turnId}]: #`
}

export interface MarkerExtraction {
  /** The remaining text, without the markers. */
  readonly text: string
  /** All markers in order, repeated ones included. `offset` is the position in `text` where the marker was. */
  readonly markers: readonly { readonly turnId: string; readonly offset: number }[]
}

/** Removes the turn markers from a text and lists them. Ignores markers in code and quotes. */
export function extractMarkers(text: string): MarkerExtraction {
  if (!mayContainMarker(text)) return { text, markers: [] }
  if (hasTooManyMarkers(text)) return { text: removeMarkerLikeText(text), markers: [] }
  const reader = createMarkerReader(text)
  for (let index = 0; index < text.length;) index = reader.readLine(index)
  return reader.result()
}

/** True if the text may contain a marker, escaped or not. A quick check of how a marker ends, e.g. `]: #`. */
export function mayContainMarker(text: string): boolean {
  const hasEnding = text.includes(': #') || text.includes(': &') || text.includes(': \\')
  return hasEnding && MARKER_ENDING.test(text)
}

const MARKER_ENDING = /[\];]: [#&\\]/

/** True for a text that no answer of the gateway has: finding the turns of so many markers would take too long. */
function hasTooManyMarkers(text: string): boolean {
  if (text.length < MAX_MARKERS * MARKER_CHARS) return false
  const endings = new RegExp(MARKER_ENDING, 'g')
  for (let count = 0; count <= MAX_MARKERS; count++) if (!endings.test(text)) return false
  return true
}

const MAX_MARKERS = 10_000
/** Length of the shortest line with a marker. */
const MARKER_CHARS = 25

/** Removes everything that looks like a marker, even damaged or in code, so that texts can be compared without markers. */
export function removeMarkerLikeText(text: string): string {
  return text.includes('[') || text.includes('&') ? text.replace(ANY_MARKER, '') : text
}

const ANY_MARKER = new RegExp(
  `${MARKER_SIGN_PATTERNS.open}[0-9A-HJKMNP-TV-Z]{20}${MARKER_SIGN_PATTERNS.close}(?::(?:[ \\t]*${MARKER_SIGN_PATTERNS.hash})?)?`,
  'gi',
)

/** Number of line breaks that the gateway adds before a marker that follows text. */
const MARKER_BREAKS = 2
/** Matches a line that Markdown regards as blank, i.e. without characters except spaces, tabs and CR. */
const BLANK_LINE = /^[ \t\r]*$/

function createMarkerReader(text: string) {
  const cutter = createTextCutter(text)
  const fences = createCodeFenceTracker()
  const markers: { readonly turnId: string; readonly offset: number }[] = []
  /** Number of blank lines in the kept text after its last line with text. */
  let blankLines = 0
  let hasText = false

  const addMarkers = (turnIds: readonly string[]): void => {
    for (const turnId of turnIds) markers.push({ turnId, offset: cutter.keptLength() })
  }
  const keepLine = (line: string): void => {
    fences.readLine(line, blankLines > 0)
    blankLines = 0
    hasText = true
  }
  const keepTextBetween = (
    line: string,
    start: number,
    { textStart, textEnd, turnIdsBefore, turnIdsAfter }: MarkerLine,
  ): void => {
    cutter.cut(start, start + textStart)
    addMarkers(turnIdsBefore)
    cutter.cut(start + textEnd, start + line.length)
    addMarkers(turnIdsAfter)
    keepLine(line.slice(textStart, textEnd))
  }
  /** Removes a line that has only markers, and the blank line after it; all white space after it if no text follows. */
  const dropLine = (
    start: number,
    next: number,
    { turnIdsBefore, turnIdsAfter }: MarkerLine,
  ): number => {
    const isLast = skipWhitespace(text, next) === text.length
    const end = isLast ? text.length : skipBlankLine(text, next)
    cutter.cut(start, end)
    if (isLast || cutter.countLineBreaksAtEnd(3) > (hasText ? MARKER_BREAKS : MARKER_BREAKS - 1)) {
      blankLines = Math.max(0, blankLines - cutter.dropLineBreaks(MARKER_BREAKS))
    }
    addMarkers([...turnIdsBefore, ...turnIdsAfter])
    return end
  }
  return {
    /** Reads the line at `start` and returns the index of the next line. */
    readLine(start: number): number {
      const next = lineEnd(text, start)
      const line = removeLineBreak(text.slice(start, next))
      if (BLANK_LINE.test(line)) {
        blankLines += 1
        return next
      }
      const markerLine = fences.isLineInFence(line) ? null : parseMarkerLine(line)
      if (markerLine === null) keepLine(line)
      else if (markerLine.textStart === markerLine.textEnd) return dropLine(start, next, markerLine)
      else keepTextBetween(line, start, markerLine)
      return next
    },
    result(): MarkerExtraction {
      if (markers.length === 0) return { text, markers }
      // Lowers offsets that are beyond the end of the text since line breaks before a later marker were removed.
      let limit = cutter.keptLength()
      const limited = markers.toReversed().map(({ turnId, offset }) => {
        limit = Math.min(limit, offset)
        return { turnId, offset: limit }
      })
      return { text: cutter.joinKeptText(), markers: limited.toReversed() }
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

function skipWhitespace(text: string, start: number): number {
  let index = start
  while (isWhitespace(text.charCodeAt(index))) index += 1
  return index
}

/** Returns the index after the blank line at `start`, or `start` if there is none. */
function skipBlankLine(text: string, start: number): number {
  const index = skipBlanks(text, start)
  return text[index] === '\n' ? index + 1 : start
}

function isWhitespace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13)
}
