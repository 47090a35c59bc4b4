/** Finds recorded text at one position of the client's text, without regard to blank lines. */

export interface TextMatch {
  readonly end: number
  /** False if the client has other blank lines or trailing whitespace. */
  readonly isVerbatim: boolean
}

/** Finds texts in the client's text, one after the other from index `from`. */
export function findPieces(
  clientText: string,
  from: number,
  pieces: readonly string[],
): TextMatch | null {
  let end = from
  let isVerbatim = true
  for (const piece of pieces) {
    const match = findPiece(clientText, end, piece)
    if (match === null) return null
    end = match.end
    isVerbatim &&= match.isVerbatim
  }
  return { end, isVerbatim }
}

/**
 * Finds one text in the client's text at index `position`, after any whitespace. Blank lines and
 * trailing whitespace do not count, indentation does.
 */
export function findPiece(clientText: string, position: number, text: string): TextMatch | null {
  const textStart = skipWhitespace(text, 0)
  if (textStart === text.length) return { end: position, isVerbatim: true }
  const start = skipWhitespace(clientText, position)
  const indent = readIndent(clientText.slice(position, start))
  if (indent !== '' && indent !== readIndent(`\n${text.slice(0, textStart)}`)) return null
  const trimmedText = text.slice(textStart).trimEnd()
  // Both texts are usually equal, and comparing a slice is many times faster than `startsWith`.
  const end = start + trimmedText.length
  if (clientText.slice(start, end) === trimmedText) return { end, isVerbatim: true }
  const looseEnd = findEndLineByLine(clientText, start, trimmedText)
  return looseEnd === null ? null : { end: looseEnd, isVerbatim: false }
}

/**
 * Returns the indentation after the last line break of a whitespace string: `'\n\n\t'` → `'\t'`.
 * Returns `''` if there is no line break.
 */
function readIndent(whitespace: string): string {
  const lineBreak = whitespace.lastIndexOf('\n')
  return lineBreak < 0 ? '' : whitespace.slice(lineBreak + 1)
}

/**
 * Compares the recorded text with the client's text line by line, without blank lines and trailing
 * whitespace. Returns the index in the client's text at which the recorded text ends; `null` if the
 * client lacks one of the lines.
 */
function findEndLineByLine(clientText: string, start: number, trimmedText: string): number | null {
  let position = start
  for (const [index, untrimmed] of trimmedText.split('\n').entries()) {
    const line = untrimmed.trimEnd()
    if (line === '') continue
    const lineStart = index === 0 ? start : findNextLine(clientText, position)
    if (lineStart === null || !clientText.startsWith(line, lineStart)) return null
    position = lineStart + line.length
  }
  return position
}

/**
 * Returns the index of the start of the next non-blank line; `null` if more text follows `position`
 * in the current line.
 */
function findNextLine(clientText: string, position: number): number | null {
  const lineBreak = clientText
    .slice(position, skipWhitespace(clientText, position))
    .lastIndexOf('\n')
  return lineBreak < 0 ? null : position + lineBreak + 1
}

/** Returns the index of the next character that is not whitespace. */
export function skipWhitespace(text: string, position: number): number {
  WHITESPACE.lastIndex = position
  WHITESPACE.exec(text)
  return WHITESPACE.lastIndex
}

const WHITESPACE = /\s*/y
