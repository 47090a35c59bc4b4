/** Splits text into non-blank lines for alignment. */
import { removeMarkerLikeText } from '../../core/markers/extract-turn-markers.ts'
import { normalizeLineBreaks } from './match-recorded-text.ts'

/** A non-blank line, or a message without text, e.g. an image. */
export interface TextLine {
  /** Index of the line's message, and the line's offsets in the message's text. */
  readonly messageIndex: number
  readonly start: number
  readonly end: number
  readonly text: string
  readonly isFirst: boolean
  readonly isLast: boolean
}

export function splitIntoLines(text: string, messageIndex: number): readonly TextLine[] {
  const allLines = findLineRanges(text).map(([start, end]) => ({
    messageIndex,
    start,
    end,
    text: cleanLine(text.slice(start, end)),
  }))
  const lines = allLines.filter(({ text }) => text !== '')
  // `'\n'` never occurs as a line, so it matches no recorded text.
  const nonEmpty = lines.length > 0 ? lines : [{ messageIndex, start: 0, end: 0, text: '\n' }]
  return nonEmpty.map((line, index) => ({
    ...line,
    // Clients trim the start of a message.
    text: index === 0 && line.text !== '\n' ? line.text.trimStart() : line.text,
    isFirst: index === 0,
    isLast: index === nonEmpty.length - 1,
  }))
}

export function listNonBlankLines(text: string): readonly string[] {
  return findLineRanges(text)
    .map(([start, end]) => cleanLine(text.slice(start, end)))
    .filter((line) => line !== '')
}

/** Removes markers and trailing whitespace from a line. Its indentation stays. */
function cleanLine(line: string): string {
  return normalizeLineBreaks(removeMarkerLikeText(line)).trimEnd()
}

/** Returns the start and end offsets of all lines, without their line breaks. */
function findLineRanges(text: string): readonly (readonly [number, number])[] {
  const lines: [number, number][] = []
  for (let start = 0; start <= text.length;) {
    const lineBreak = text.indexOf('\n', start)
    const end = lineBreak < 0 ? text.length : lineBreak
    lines.push([start, text[end - 1] === '\r' ? end - 1 : end])
    start = end + 1
  }
  return lines
}
