/**
 * Follows a streamed Markdown text and finds positions at which an invisible line can be inserted without changing
 * the rendered text: directly after a blank line, at the top level, before a paragraph. Where the Markdown parsers of
 * clients differ, there is no such position.
 *
 * The state does not depend on how the text is cut into pieces. Of each piece, only the first position is returned.
 */
import { trackMarkdownCodeFences } from '../../../core/text/track-markdown-code-fences.ts'
import { trackMarkdownHtmlBlocks } from './track-markdown-html-blocks.ts'

export interface MarkdownInsertionPoints {
  /** Reads the next piece. Returns the first position in `text`, or -1. */
  readonly push: (text: string) => number
  /** Starts the text of the next message, which some clients show by itself and some after a blank line. */
  readonly startNextText: () => void
  /** True if a line may be inserted before `text`, which is the start of a text. */
  readonly canStartWith: (text: string) => boolean
  /** True if a line may be added at the end. Ends the text. */
  readonly canEnd: () => boolean
}

export function trackMarkdownInsertionPoints(): MarkdownInsertionPoints {
  const fences = trackMarkdownCodeFences()
  const html = trackMarkdownHtmlBlocks()
  const math = trackMathBlocks()
  let line = ''
  let hasText = false
  let isAfterBlank = false
  let isTable = false
  /** Number of line breaks in sequence. */
  let breaks = 0
  /** True once parsers disagree about the structure of the rest. */
  let isAmbiguous = false

  const isOpen = (): boolean => isAmbiguous || fences.isOpen() || html.isOpen() || math.isOpen()
  const readBlankLine = (): void => {
    isAfterBlank = true
    isTable = false
    html.readBlank()
  }
  const readTextLine = (text: string): void => {
    const isCode = fences.read(text, isAfterBlank)
    // Some parsers see code here, others HTML.
    if (fences.isInDoubt() || (isCode && html.isRaw())) isAmbiguous = true
    isAfterBlank = false
    hasText = true
    if (isCode) return
    html.read(text)
    math.read(text)
    isTable ||= looksLikeTable(text)
  }
  const readLine = (): void => {
    const text = line.endsWith('\r') ? line.slice(0, -1) : line
    line = ''
    // Some parsers break lines at a `\r` without `\n`.
    if (text.includes('\r')) isAmbiguous = true
    if (BLANK_LINE.test(text)) readBlankLine()
    else readTextLine(text)
    breaks = text === '' ? breaks + 1 : 1
  }
  const isInsertionPoint = (nextCode: number): boolean =>
    isAfterBlank &&
    hasText &&
    breaks === REQUIRED_BREAKS &&
    line === '' &&
    startsParagraph(nextCode) &&
    !isOpen()

  return {
    push(text) {
      let position = -1
      for (let from = 0; from < text.length;) {
        if (position === -1 && isInsertionPoint(text.charCodeAt(from))) position = from
        const end = text.indexOf('\n', from)
        if (end === -1) {
          line += text.slice(from)
          break
        }
        line += text.slice(from, end)
        readLine()
        from = end + 1
      }
      return position
    },
    startNextText() {
      if (line !== '') readLine()
      if (isOpen()) isAmbiguous = true
      readBlankLine()
    },
    canStartWith(text) {
      if (line !== '' || isOpen()) return false
      if (!hasText || startsParagraph(text.charCodeAt(0))) return true
      // The text may continue the list or the code before it.
      return !fences.isInList() && !LIST_OR_CODE_START.test(text)
    },
    canEnd() {
      if (line !== '') readLine()
      return hasText && !isTable && !fences.isInList() && !isOpen()
    },
  }
}

/** Starts of lines in which, after certain blocks, some parsers see a list or code, e.g. `2) text` or an indent. */
const LIST_OR_CODE_START = /^(?: {4}| {0,3}(?:[\t\d]|[-+*](?:\s|$)))/
/** Markdown counts only spaces and tabs as white space. */
const BLANK_LINE = /^[ \t]*$/
/**
 * Line breaks before a marker: one empty line, `\n\n`. A line with spaces is not blank for all parsers, and of
 * more breaks, `core/markers/extract-turn-markers.ts` would remove some together with the marker.
 */
const REQUIRED_BREAKS = 2

/** True for a letter, which can start only a paragraph: no list, heading, table or HTML. */
function startsParagraph(code: number): boolean {
  if (code < 0xc0) return (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
  const isWhiteSpace =
    code === 0x1680 || (code >= 0x2000 && code <= 0x206f) || code === 0x3000 || code === 0xfeff
  return !isWhiteSpace
}

function looksLikeTable(line: string): boolean {
  if (!line.includes('|')) return false
  return line.trimStart().startsWith('|') || /^[\s|:-]+$/.test(line)
}

/**
 * Tracks, line by line, whether the text is inside a formula of several lines, such as `$$ … $$`. Clients that render
 * formulas take everything up to the end of the formula for a part of it.
 */
function trackMathBlocks() {
  let isInDollars = false
  let isInBrackets = false
  let depth = 0
  return {
    read(line: string): void {
      if (!line.includes('$$') && !line.includes('\\')) return
      for (const [sign] of line.replace(CODE_SPAN, '').matchAll(MATH_SIGNS)) {
        if (sign === '$$') isInDollars = !isInDollars
        else if (sign === '\\[') isInBrackets = true
        else if (sign === '\\]') isInBrackets = false
        else if (sign === '\\begin{') depth += 1
        else if (sign === '\\end{') depth = Math.max(0, depth - 1)
      }
    },
    isOpen: () => isInDollars || isInBrackets || depth > 0,
  }
}

const CODE_SPAN = /`[^`]*`/g
/** A double backslash is listed first because it starts a new row: `\\[` does not open a formula. */
const MATH_SIGNS = /\\\\|\\\[|\\\]|\\begin\{|\\end\{|\$\$/g
