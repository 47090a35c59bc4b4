/**
 * Finds the turn markers at the start and at the end of one line, e.g. `[01M7R8WH3CG7NWY4TNQS]: #
 * Hello`. Ignores indented code, and at the end of the line also quotes and lines that open a code
 * fence.
 */
export interface MarkerLine {
  /** The text between the markers is `line.slice(from, to)`. */
  readonly from: number
  readonly to: number
  /** Turn ids of the markers before and after that text. */
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/** Returns null for a line without markers. */
export function parseMarkerLine(line: string): MarkerLine | null {
  const start = skipBlanks(line, 0)
  if (start > 3 || line.lastIndexOf('\t', start - 1) !== -1) return null
  const [before, from] = readMarkersAtStart(line, start)
  const [after, to] = readMarkersAtEnd(line, from)
  if (before.length + after.length === 0) return null
  return { from: before.length === 0 ? 0 : from, to, before, after }
}

/** Patterns of a marker's characters, plain or escaped as in HTML (`&#91;`) or Markdown (`\[`). */
export const MARKER_SIGNS = {
  open: String.raw`(?:\\?\[|&(?:#0{0,4}91|#[xX]0{0,4}5[bB]|lsqb|lbrack);)`,
  close: String.raw`(?:\\?\]|&(?:#0{0,4}93|#[xX]0{0,4}5[dD]|rsqb|rbrack);)`,
  hash: String.raw`(?:\\?#|&(?:#0{0,4}35|#[xX]0{0,4}23|num);)`,
} as const

const MARKER = `${MARKER_SIGNS.open}([0-9A-HJKMNP-TV-Z]{20})${MARKER_SIGNS.close}: ${MARKER_SIGNS.hash}`
const AT_START = new RegExp(MARKER, 'y')
const AT_END = new RegExp(`${MARKER}$`)
/** Exceeds the longest marker with every character escaped. */
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

function skipBlanks(line: string, from: number): number {
  let index = from
  while (isBlank(line[index])) index += 1
  return index
}

function trimBlanksBefore(line: string, to: number, from: number): number {
  let index = to
  while (index > from && isBlank(line[index - 1])) index -= 1
  return index
}

/** Includes CR, because the line may have been cut inside a CR LF. */
function isBlank(char: string | undefined): boolean {
  return char === ' ' || char === '\t' || char === '\r'
}
