/**
 * Tracks whether an invisible line (a marker) can stand in front of or behind a streamed Markdown text. It cannot after
 * an open code fence, in a list or a table. After HTML or a formula of several lines it could for some Markdown parsers of
 * clients and not for others, so it never does. The result does not depend on how the text is cut into pieces.
 */
import { createCodeFenceTracker } from '../../../core/text/track-markdown-code-fences.ts'

export function trackMarkdownStructure() {
  const fences = createCodeFenceTracker()
  let line = ''
  let hasText = false
  let isAfterBlank = false
  let isTable = false
  /** True once parsers may disagree about the structure of the remaining text. */
  let isAmbiguous = false

  const isOpen = (): boolean => isAmbiguous || fences.isFenceOpen()
  const readTextLine = (text: string): void => {
    const isCode = fences.readLine(text, isAfterBlank)
    if (fences.isUncertain()) isAmbiguous = true
    isAfterBlank = false
    hasText = true
    if (isCode) return
    if (HTML_START.test(text) || MATH_SIGN.test(text.replace(CODE_SPAN, ''))) isAmbiguous = true
    isTable ||= looksLikeTable(text)
  }
  const readBlankLine = (): void => {
    isAfterBlank = true
    isTable = false
  }
  const readLine = (): void => {
    const text = line.endsWith('\r') ? line.slice(0, -1) : line
    line = ''
    // Some parsers also treat `\r` without `\n` as a line break.
    if (text.includes('\r')) isAmbiguous = true
    if (BLANK_LINE.test(text)) readBlankLine()
    else readTextLine(text)
  }

  return {
    /** Reads the next piece of the text. */
    read(text: string): void {
      let from = 0
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
        line += text.slice(from, end)
        readLine()
        from = end + 1
      }
      line += text.slice(from)
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

/** Matches a line that starts with HTML, after the signs of lists and quotes, e.g. `> <div>`. */
const HTML_START = /^[\s>*+-]*(?:\d{1,9}[.)]\s+)?<[a-zA-Z/!?]/
const CODE_SPAN = /`[^`]*`/g
/** Matches a sign that may open a formula of several lines, e.g. `$$`. */
const MATH_SIGN = /\$\$|\\\[|\\begin\{/
/** Matches starts of lines that some parsers take for a list item or code, e.g. `2) text` or an indent. */
const LIST_OR_CODE_START = /^(?: {4}| {0,3}(?:[\t\d]|[-+*](?:\s|$)))/
/** Matches a blank line. In Markdown, only spaces and tabs are white space. */
const BLANK_LINE = /^[ \t]*$/

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
