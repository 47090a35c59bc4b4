/** Splits a text into its non-blank lines, each with its position in the text. */
import { removeMarkerLikeText } from '../../core/markers/format-and-extract-markers.ts'
import { normalizeLineBreaks } from './match-unedited-text.ts'

/**
 * A non-blank line of a message. A message without text, e.g. an image, counts as one line with the
 * text `'\n'`, so that its position is known.
 */
export interface TextLine {
  /**
   * Index of the message that contains the line; `start` and `end` are offsets in the text of that
   * message.
   */
  readonly messageIndex: number
  readonly start: number
  readonly end: number
  readonly text: string
  readonly isFirst: boolean
  readonly isLast: boolean
}

export function splitIntoLines(text: string, messageIndex: number): readonly TextLine[] {
  const found = findNonBlankLines(text)
  // A real line never contains `'\n'`, so this line matches no recorded line.
  const lines = found.length > 0 ? found : [{ start: 0, end: 0, text: '\n' }]
  return lines.map((line, index) => ({
    ...line,
    messageIndex,
    // Clients remove whitespace at the start of a message, so this difference does not count.
    text: index === 0 && line.text !== '\n' ? line.text.trimStart() : line.text,
    isFirst: index === 0,
    isLast: index === lines.length - 1,
  }))
}

export function listNonBlankLines(text: string): readonly string[] {
  return findNonBlankLines(text).map((line) => line.text)
}

/** Returns the text of each non-blank line, and its start and end offsets without the line break. */
function findNonBlankLines(text: string): readonly Pick<TextLine, 'start' | 'end' | 'text'>[] {
  const lines: Pick<TextLine, 'start' | 'end' | 'text'>[] = []
  for (let start = 0; start <= text.length;) {
    const lineBreak = text.indexOf('\n', start)
    const lineEnd = lineBreak < 0 ? text.length : lineBreak
    const end = text[lineEnd - 1] === '\r' ? lineEnd - 1 : lineEnd
    const line = cleanLine(text.slice(start, end))
    if (line !== '') lines.push({ start, end, text: line })
    start = lineEnd + 1
  }
  return lines
}

/**
 * Removes markers and trailing whitespace from a line. The indentation stays, because a different
 * indentation counts as an edit.
 */
function cleanLine(line: string): string {
  return normalizeLineBreaks(removeMarkerLikeText(line)).trimEnd()
}
