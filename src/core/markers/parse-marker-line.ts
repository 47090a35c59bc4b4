/**
 * Finds the turn markers at the start and the end of one line of text, e.g. in
 * `[01M7R8WH3CG7NWY4TNQS]: # Hello`. Finds none in indented code. Finds none at the end of a quote or of
 * a line with a code fence.
 */
export interface MarkerLine {
  /** Start of the text between the markers; it is `line.slice(textStart, textEnd)`. */
  readonly textStart: number
  readonly textEnd: number
  /** Turn ids of the markers before the text. */
  readonly turnIdsBefore: readonly string[]
  readonly turnIdsAfter: readonly string[]
}

/** Returns the markers of the line and the range of its text; null if it has no markers. */
export function parseMarkerLine(line: string): MarkerLine | null {
  const start = skipBlanks(line, 0)
  if (start > 3 || line.lastIndexOf('\t', start - 1) !== -1) return null
  const [before, from] = readMarkersAtStart(line, start)
  const [after, to] = readMarkersAtEnd(line, from)
  if (before.length + after.length === 0) return null
  return {
    textStart: before.length === 0 ? 0 : from,
    textEnd: to,
    turnIdsBefore: before,
    turnIdsAfter: after,
  }
}

/** Patterns for the brackets and the `#` of a marker, plain or escaped as in HTML (`&#91;`) or Markdown (`\[`). */
export const MARKER_SIGN_PATTERNS = {
  open: String.raw`(?:\\?\[|&(?:#0{0,4}91|#[xX]0{0,4}5[bB]|lsqb|lbrack);)`,
  close: String.raw`(?:\\?\]|&(?:#0{0,4}93|#[xX]0{0,4}5[dD]|rsqb|rbrack);)`,
  hash: String.raw`(?:\\?#|&(?:#0{0,4}35|#[xX]0{0,4}23|num);)`,
} as const

const MARKER = `${MARKER_SIGN_PATTERNS.open}([0-9A-HJKMNP-TV-Z]{20})${MARKER_SIGN_PATTERNS.close}: ${MARKER_SIGN_PATTERNS.hash}`
const AT_START = new RegExp(MARKER, 'y')
const AT_END = new RegExp(`${MARKER}$`)
/** Length that no marker exceeds, even if all of its signs are escaped. */
const MAX_MARKER_CHARS = 64

function readMarkersAtStart(line: string, start: number): readonly [readonly string[], number] {
  const turnIds: string[] = []
  let from = start
  for (;;) {
    AT_START.lastIndex = from
    const turnId = AT_START.exec(line)?.[1]
    if (turnId === undefined) return [turnIds, from]
    turnIds.push(turnId)
    from = skipBlanks(line, AT_START.lastIndex)
  }
}

function readMarkersAtEnd(line: string, from: number): readonly [readonly string[], number] {
  const turnIds: string[] = []
  if (line[from] === '>' || !endsLikeMarker(line) || /```|~~~/.test(line)) {
    return [turnIds, line.length]
  }
  let to = line.length
  for (;;) {
    const end = trimBlanksBefore(line, to, from)
    const match = AT_END.exec(line.slice(Math.max(from, end - MAX_MARKER_CHARS), end))
    if (match?.[1] === undefined) return [turnIds.toReversed(), to]
    turnIds.push(match[1])
    to = trimBlanksBefore(line, end - match[0].length, from)
  }
}

function endsLikeMarker(line: string): boolean {
  const last = line[trimBlanksBefore(line, line.length, 0) - 1]
  return last === '#' || last === ';'
}

export function skipBlanks(line: string, from: number): number {
  let index = from
  while (isBlank(line[index])) index += 1
  return index
}

function trimBlanksBefore(line: string, to: number, from: number): number {
  let index = to
  while (index > from && isBlank(line[index - 1])) index -= 1
  return index
}

/** True for a space, a tab or CR. A line may end with CR if its text was cut inside of CR LF. */
function isBlank(char: string | undefined): boolean {
  return char === ' ' || char === '\t' || char === '\r'
}
