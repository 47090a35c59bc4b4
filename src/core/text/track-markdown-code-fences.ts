/**
 * Tracks which lines of a Markdown text are fenced code, also inside list items. The caller passes the
 * non-blank lines one by one, without their line breaks.
 *
 * Markdown parsers disagree about a fence whose list item or quote ends before the closing line. This
 * tracker regards the fence as closed, and `isUncertain` is true for the remaining text.
 */
export interface CodeFenceTracker {
  /** Reads the next line and returns true if it opens or closes a fence or is inside one. */
  readonly readLine: (line: string, isAfterBlank: boolean) => boolean
  /** True if the line, as the next one, would be inside the open fence or close it. Does not read the line. */
  readonly isLineInFence: (line: string) => boolean
  readonly isFenceOpen: () => boolean
  /** True if the next line may continue a list item. */
  readonly isInList: () => boolean
  readonly isUncertain: () => boolean
}

export function createCodeFenceTracker(): CodeFenceTracker {
  let fence: Fence | null = null
  let quoted: Fence | null = null
  let isInList = false
  let listColumn = 0
  let isUncertain = false

  const readQuote = (body: string): void => {
    if (quoted === null) quoted = openedBy(body, 0)
    else if (isClosedBy(body, quoted)) quoted = null
  }
  const readOpen = (line: string, open: Fence): void => {
    if (isClosedBy(line, open)) fence = null
    else if (looksClosed(line, open)) isUncertain = true
  }
  const readText = (line: string, isAfterBlank: boolean): boolean => {
    const lead = leadOf(line, isInList)
    if (lead.isList) {
      isInList = true
      listColumn = lead.column
    } else if (isAfterBlank && lead.column === 0) isInList = false
    if (quoted !== null && !lead.isQuote && !isAfterBlank) isUncertain = true
    if (isAfterBlank || !lead.isQuote) quoted = null
    const body = line.slice(lead.index)
    if (lead.isQuote) {
      if (isInList && /```|~~~/.test(body)) isUncertain = true
      else readQuote(body)
      return false
    }
    const opened = openedBy(body, isInList ? lead.column : 0)
    if (opened === null || (lead.column > 3 && !isInList)) return false
    if (isInList && lead.column > listColumn + 3) {
      isUncertain = true
      return false
    }
    fence = opened
    return true
  }
  const holds = (line: string): boolean =>
    fence !== null &&
    (fence.column === 0 || columnOf(line) >= fence.column || isClosedBy(line, fence))

  return {
    readLine(line, isAfterBlank) {
      if (fence !== null) {
        const isOutside = fence.column > columnOf(line)
        if (isOutside) isUncertain = true
        if (holds(line)) {
          readOpen(line, fence)
          return true
        }
        fence = null
      }
      return readText(line, isAfterBlank)
    },
    isLineInFence: holds,
    isFenceOpen: () => fence !== null || quoted !== null,
    isInList: () => isInList,
    isUncertain: () => isUncertain,
  }
}

interface Fence {
  readonly char: string
  readonly length: number
  /** Column of a fence in a list item, else 0. A line with less indentation is outside of the fence. */
  readonly column: number
}

/** The markup before the text of a line: indentation, list markers and quote signs. */
interface Lead {
  readonly index: number
  readonly column: number
  readonly isList: boolean
  readonly isQuote: boolean
}

function leadOf(line: string, isInList: boolean): Lead {
  let index = 0
  let column = 0
  let isList = false
  for (;;) {
    const start = column
    for (; line[index] === ' ' || line[index] === '\t'; index += 1)
      column = afterBlank(column, line[index])
    // Stops at indented code, in which a list marker has no meaning.
    if (column - start > 3 && !isInList && !isList) break
    const length = listMarkerLength(line, index)
    if (length === 0) break
    isList = true
    index += length
    column += length
  }
  const isQuote = line[index] === '>' && (column < 4 || isInList || isList)
  if (isQuote) for (; line[index] === '>' || line[index] === ' '; index += 1) column += 1
  return { index, column, isList, isQuote }
}

function columnOf(line: string): number {
  let column = 0
  for (let index = 0; line[index] === ' ' || line[index] === '\t'; index += 1) {
    column = afterBlank(column, line[index])
  }
  return column
}

function afterBlank(column: number, blank: string | undefined): number {
  return blank === '\t' ? column + 4 - (column % 4) : column + 1
}

/**
 * Returns the length of the list marker at `index`: a bullet, or a number such as `12.` or `3)`, followed
 * by a blank or the end of the line. Returns 0 if there is none.
 */
function listMarkerLength(line: string, index: number): number {
  let end = index
  if (line[index] === '-' || line[index] === '*' || line[index] === '+') end += 1
  else {
    while (end < index + 9 && isDigit(line.charCodeAt(end))) end += 1
    if (end === index || (line[end] !== '.' && line[end] !== ')')) return 0
    end += 1
  }
  return end === line.length || line[end] === ' ' || line[end] === '\t' ? end - index : 0
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

function openedBy(body: string, column: number): Fence | null {
  const char = body[0]
  if (char !== '`' && char !== '~') return null
  const length = runLength(body, 0, char)
  if (length < 3) return null
  return char === '`' && body.includes('`', length) ? null : { char, length, column }
}

function isClosedBy(line: string, { char, length, column }: Fence): boolean {
  const blanks = line.length - line.trimStart().length
  if (columnOf(line) > column + 3) return false
  const run = runLength(line, blanks, char)
  return run >= length && line.slice(blanks + run).trim() === ''
}

/** True for a line that mixes backticks and tildes, which only some parsers accept as the end of a fence. */
function looksClosed(line: string, { char, length }: Fence): boolean {
  const text = line.trim()
  return runLength(text, 0, char) >= length && /^[`~]+$/.test(text)
}

function runLength(text: string, from: number, char: string): number {
  let end = from
  while (text[end] === char) end += 1
  return end - from
}
