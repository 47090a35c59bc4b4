/**
 * Tracks, line by line, whether a Markdown text is inside HTML. Some Markdown parsers render HTML, others
 * show it as text. HTML therefore counts as ended only when it has ended for both kinds of parsers: its
 * block is over, and its elements are closed.
 */
export function trackMarkdownHtmlBlocks() {
  /** Text that ends the current HTML block, e.g. `-->`; null outside of a block. */
  let blockEnd: string | null = null
  let depth = 0
  return {
    /** Reads the next line; called only for lines that are neither blank nor code. */
    readLine(line: string): void {
      if (blockEnd === null && !line.includes('<')) return
      const lower = line.toLowerCase()
      const start = findHtmlStart(lower)
      const newBlockEnd = start === NOT_FOUND ? null : findBlockEnd(lower.slice(start))
      if (start !== NOT_FOUND || blockEnd === BLANK_LINE) depth += countTags(lower, OPENING_TAGS)
      if (depth > 0) depth = Math.max(0, depth - countTags(lower, CLOSING_TAGS))
      // A line that ends one block may start another one.
      if (blockEnd === null || blockEnd === BLANK_LINE) blockEnd = newBlockEnd ?? blockEnd
      else if (lower.includes(blockEnd)) blockEnd = newBlockEnd
    },
    readBlankLine(): void {
      if (blockEnd === BLANK_LINE) blockEnd = null
    },
    /** True if the next line is raw HTML, and not Markdown inside an element. */
    isRawHtml: () => blockEnd !== null,
    /** True if text after the next blank line would still be inside an HTML element. */
    isInHtml: () => depth > 0 || (blockEnd !== null && blockEnd !== BLANK_LINE),
  }
}

const BLANK_LINE = '\n'
const NOT_FOUND = -1

/**
 * Elements that count as open until their closing tag: those that may contain Markdown or blank lines, and those
 * that mark the reasoning of a model.
 */
const ELEMENT_NAMES =
  'details|summary|think|thinking|reason|reasoning|thought|code_interpreter|div|section|article|aside|main|nav|header|footer|form|fieldset|figure|table|thead|tbody|tr|td|th|ul|ol|dl|blockquote|center|svg|math|iframe|object|video|audio|canvas|select|button|template|noscript'
const OPENING_TAGS = new RegExp(`<(?:${ELEMENT_NAMES})(?![\\w-])`, 'g')
const CLOSING_TAGS = new RegExp(`</(?:${ELEMENT_NAMES})(?![\\w-])`, 'g')

function countTags(line: string, tags: RegExp): number {
  return line.match(tags)?.length ?? 0
}

/**
 * Returns the offset at which HTML starts in a line, after the signs of lists and quotes: 2 for `> <div>`.
 */
function findHtmlStart(line: string): number {
  const start = /^[\s>*+-]*(?:\d{1,9}[.)]\s+)?/.exec(line)?.[0].length ?? 0
  return /^<[a-z/!?]/.test(line.slice(start, start + 2)) ? start : NOT_FOUND
}

/** Returns the text that ends the HTML block that starts with this line; null if the line itself ends it. */
function findBlockEnd(line: string): string | null {
  for (const [opening, ending] of SPECIAL_BLOCKS) {
    if (line.startsWith(opening)) return line.includes(ending, opening.length) ? null : ending
  }
  const name = /^<(script|pre|style|textarea)(?![\w-])/.exec(line)?.[1]
  if (name === undefined) return BLANK_LINE
  return line.includes(`</${name}>`) ? null : `</${name}>`
}

const SPECIAL_BLOCKS = [
  ['<!--', '-->'],
  ['<?', '?>'],
  ['<![cdata[', ']]>'],
  ['<!', '>'],
] as const
