/**
 * Tells which lines of a Markdown text are fenced code, within list items as well. It is given the
 * lines that are not blank, one by one and without their breaks.
 *
 * Readers of Markdown do not agree on a fence that its list item or its quote ends before it is
 * closed. Such a fence is taken to end there, and from then on the reader says that it is in doubt.
 */
export interface CodeFenceTracker {
  /** Reads the next line. Whether it opens a fence, closes one, or stands in one. */
  readonly read: (line: string, isAfterBlank: boolean) => boolean
  /** Whether an open fence would take the line for its own. Reads nothing. */
  readonly holds: (line: string) => boolean
  readonly isOpen: () => boolean
  /** Whether an item of a list may go on. */
  readonly isInList: () => boolean
  readonly isInDoubt: () => boolean
}

export function trackMarkdownCodeFences(): CodeFenceTracker {
  let fence: Fence | null = null
  let quoted: Fence | null = null
  let isInList = false
  let listColumn = 0
  let isInDoubt = false

  const readQuote = (body: string): void => {
    if (quoted === null) quoted = openedBy(body, 0)
    else if (isClosedBy(body, quoted)) quoted = null
  }
  const readOpen = (line: string, open: Fence): void => {
    if (isClosedBy(line, open)) fence = null
    else if (looksClosed(line, open)) isInDoubt = true
  }
  const readText = (line: string, isAfterBlank: boolean): boolean => {
    const lead = leadOf(line, isInList)
    if (lead.isList) {
      isInList = true
      listColumn = lead.column
    } else if (isAfterBlank && lead.column === 0) isInList = false
    if (quoted !== null && !lead.isQuote && !isAfterBlank) isInDoubt = true
    if (isAfterBlank || !lead.isQuote) quoted = null
    const body = line.slice(lead.at)
    if (lead.isQuote) {
      if (isInList && /```|~~~/.test(body)) isInDoubt = true
      else readQuote(body)
      return false
    }
    const opened = openedBy(body, isInList ? lead.column : 0)
    if (opened === null || (lead.column > 3 && !isInList)) return false
    if (isInList && lead.column > listColumn + 3) {
      isInDoubt = true
      return false
    }
    fence = opened
    return true
  }
  const holds = (line: string): boolean =>
    fence !== null &&
    (fence.column === 0 || columnOf(line) >= fence.column || isClosedBy(line, fence))

  return {
    read(line, isAfterBlank) {
      if (fence !== null) {
        const isOutside = fence.column > columnOf(line)
        if (isOutside) isInDoubt = true
        if (holds(line)) {
          readOpen(line, fence)
          return true
        }
        fence = null
      }
      return readText(line, isAfterBlank)
    },
    holds,
    isOpen: () => fence !== null || quoted !== null,
    isInList: () => isInList,
    isInDoubt: () => isInDoubt,
  }
}

interface Fence {
  readonly char: string
  readonly length: number
  /** Where it stands, if that may be in a list item; else 0. What stands before that is outside. */
  readonly column: number
}

/** What a line begins with before its own words: blanks, marks of lists, or of a quote. */
interface Lead {
  readonly at: number
  readonly column: number
  readonly isList: boolean
  readonly isQuote: boolean
}

function leadOf(line: string, isInList: boolean): Lead {
  let at = 0
  let column = 0
  let isList = false
  for (;;) {
    const start = column
    for (; line[at] === ' ' || line[at] === '\t'; at += 1) column = afterBlank(column, line[at])
    // Code that is set off by blanks holds no marks.
    if (column - start > 3 && !isInList && !isList) break
    const length = listMarkLength(line, at)
    if (length === 0) break
    isList = true
    at += length
    column += length
  }
  const isQuote = line[at] === '>' && (column < 4 || isInList || isList)
  if (isQuote) for (; line[at] === '>' || line[at] === ' '; at += 1) column += 1
  return { at, column, isList, isQuote }
}

function columnOf(line: string): number {
  let column = 0
  for (let at = 0; line[at] === ' ' || line[at] === '\t'; at += 1) {
    column = afterBlank(column, line[at])
  }
  return column
}

function afterBlank(column: number, blank: string | undefined): number {
  return blank === '\t' ? column + 4 - (column % 4) : column + 1
}

/** A bullet, or up to nine digits with a point or a parenthesis, and a blank or nothing behind. */
function listMarkLength(line: string, at: number): number {
  let end = at
  if (line[at] === '-' || line[at] === '*' || line[at] === '+') end += 1
  else {
    while (end < at + 9 && isDigit(line.charCodeAt(end))) end += 1
    if (end === at || (line[end] !== '.' && line[end] !== ')')) return 0
    end += 1
  }
  return end === line.length || line[end] === ' ' || line[end] === '\t' ? end - at : 0
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

/** Some take a line of both kinds of marks for the end of either, and some do not. */
function looksClosed(line: string, { char, length }: Fence): boolean {
  const text = line.trim()
  return runLength(text, 0, char) >= length && /^[`~]+$/.test(text)
}

function runLength(text: string, from: number, char: string): number {
  let end = from
  while (text[end] === char) end += 1
  return end - from
}
