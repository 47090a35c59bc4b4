/**
 * The markers in one line of a text: at its beginning, whatever is glued behind them, and at its
 * end. Not in a line that is set off as code, in a quote, or at the end of one that opens a fence.
 */
export interface MarkerLine {
  /** What is left of the line lies between these two places. */
  readonly from: number
  readonly to: number
  /** The turns that are named in front of it, and behind it. */
  readonly before: readonly string[]
  readonly behind: readonly string[]
}

/** `null` where there is none. */
export function parseMarkerLine(line: string): MarkerLine | null {
  const start = afterBlanks(line, 0)
  if (start > 3 || line.lastIndexOf('\t', start - 1) !== -1) return null
  const [before, from] = marksAtStart(line, start)
  const [behind, to] = marksAtEnd(line, from)
  if (before.length + behind.length === 0) return null
  return { from: before.length === 0 ? 0 : from, to, before, behind }
}

/** The signs of a marker, as they are and as HTML or Markdown escapes them. */
export const MARKER_SIGNS = {
  open: String.raw`(?:\\?\[|&(?:#0{0,4}91|#[xX]0{0,4}5[bB]|lsqb|lbrack);)`,
  close: String.raw`(?:\\?\]|&(?:#0{0,4}93|#[xX]0{0,4}5[dD]|rsqb|rbrack);)`,
  hash: String.raw`(?:\\?#|&(?:#0{0,4}35|#[xX]0{0,4}23|num);)`,
} as const

const MARKER = `${MARKER_SIGNS.open}([0-9A-HJKMNP-TV-Z]{20})${MARKER_SIGNS.close}: ${MARKER_SIGNS.hash}`
const AT_START = new RegExp(MARKER, 'y')
const AT_END = new RegExp(`${MARKER}$`)
/** No marker is longer. */
const MAX_CHARS = 64

function marksAtStart(line: string, start: number): readonly [readonly string[], number] {
  const turnIds: string[] = []
  let from = start
  for (;;) {
    AT_START.lastIndex = from
    const turnId = AT_START.exec(line)?.[1]
    if (turnId === undefined) return [turnIds, from]
    turnIds.push(turnId)
    from = afterBlanks(line, AT_START.lastIndex)
  }
}

function marksAtEnd(line: string, from: number): readonly [readonly string[], number] {
  const turnIds: string[] = []
  if (line[from] === '>' || !endsLikeMarker(line) || /```|~~~/.test(line)) {
    return [turnIds, line.length]
  }
  let to = line.length
  for (;;) {
    const end = beforeBlanks(line, to, from)
    const found = AT_END.exec(line.slice(Math.max(from, end - MAX_CHARS), end))
    if (found?.[1] === undefined) return [turnIds.toReversed(), to]
    turnIds.push(found[1])
    to = beforeBlanks(line, end - found[0].length, from)
  }
}

function endsLikeMarker(line: string): boolean {
  const last = line[beforeBlanks(line, line.length, 0) - 1]
  return last === '#' || last === ';'
}

function afterBlanks(line: string, from: number): number {
  let at = from
  while (isBlank(line[at])) at += 1
  return at
}

function beforeBlanks(line: string, to: number, from: number): number {
  let at = to
  while (at > from && isBlank(line[at - 1])) at -= 1
  return at
}

/** Half of a line break is one where a line was cut. */
function isBlank(char: string | undefined): boolean {
  return char === ' ' || char === '\t' || char === '\r'
}
