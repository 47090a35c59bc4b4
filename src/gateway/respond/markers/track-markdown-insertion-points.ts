/**
 * Finds insertion points in a streamed Markdown text: positions at which an invisible line (a marker) does
 * not change the rendered text. They are directly after a blank line, at the top level, before a paragraph.
 * Where the Markdown parsers of clients differ, there are none. The result does not depend on how the text
 * is cut into pieces.
 */
import { createCodeFenceTracker } from '../../../core/text/track-markdown-code-fences.ts'
import { trackMarkdownHtmlBlocks } from './track-markdown-html-blocks.ts'

export function trackMarkdownInsertionPoints() {
  const fences = createCodeFenceTracker()
  const html = trackMarkdownHtmlBlocks()
  const math = trackMathBlocks()
  let line = ''
  let hasText = false
  let isAfterBlank = false
  let isTable = false
  /** Number of consecutive line breaks before the current position. */
  let breaks = 0
  /** True once parsers may disagree about the structure of the remaining text. */
  let isAmbiguous = false

  const isOpen = (): boolean =>
    isAmbiguous || fences.isFenceOpen() || html.isInHtml() || math.isOpen()
  const readBlankLine = (): void => {
    isAfterBlank = true
    isTable = false
    html.readBlankLine()
  }
  const readTextLine = (text: string): void => {
    const isCode = fences.readLine(text, isAfterBlank)
    // The line is code for some parsers, and HTML for others.
    if (fences.isUncertain() || (isCode && html.isRawHtml())) isAmbiguous = true
    isAfterBlank = false
    hasText = true
    if (isCode) return
    html.readLine(text)
    math.read(text)
    isTable ||= looksLikeTable(text)
  }
  const readLine = (): void => {
    const text = line.endsWith('\r') ? line.slice(0, -1) : line
    line = ''
    // Some parsers also treat `\r` without `\n` as a line break.
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
    /** Reads the next piece of the text. Returns the offset of its first insertion point, or -1. */
    findPosition(text: string): number {
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
    /** Starts the text of the next message. Some clients show it separately, others after a blank line. */
    startNextText(): void {
      if (line !== '') readLine()
      if (isOpen()) isAmbiguous = true
      readBlankLine()
    },
    /** `text`: the start of a message. True if a line can be inserted before it. */
    canStartWith(text: string): boolean {
      if (line !== '' || isOpen()) return false
      if (!hasText || startsParagraph(text.charCodeAt(0))) return true
      // A text that starts like this could continue a list or code before it.
      return !fences.isInList() && !LIST_OR_CODE_START.test(text)
    },
    /** True if a line can be appended to the text. Ends the text. */
    canAppend(): boolean {
      if (line !== '') readLine()
      return hasText && !isTable && !fences.isInList() && !isOpen()
    },
  }
}

/** Matches starts of lines that some parsers take for a list item or code, e.g. `2) text` or an indent. */
const LIST_OR_CODE_START = /^(?: {4}| {0,3}(?:[\t\d]|[-+*](?:\s|$)))/
/** Matches a blank line. In Markdown, only spaces and tabs are white space. */
const BLANK_LINE = /^[ \t]*$/
/**
 * Number of line breaks before a marker: `\n\n`, i.e. one empty line. After more line breaks, removing the
 * marker (`core/markers/format-and-extract-markers.ts`) would not restore the original text.
 */
const REQUIRED_BREAKS = 2

/**
 * True for the code of a letter. A line that starts with a letter is a paragraph, and no list, table or
 * HTML.
 */
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
 * Tracks, line by line, whether the text is inside a formula of several lines, e.g. `$$ … $$`. Some clients
 * render formulas, and would render a marker as part of the formula.
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
/**
 * Matches signs that open or close formulas. A double backslash comes first: it is a line break of a
 * formula, so `[` after it opens nothing.
 */
const MATH_SIGNS = /\\\\|\\\[|\\\]|\\begin\{|\\end\{|\$\$/g
