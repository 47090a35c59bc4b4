/**
 * Tracks, line by line, whether a Markdown text is inside HTML. Some Markdown parsers render HTML and some show it
 * as text; a position must be safe for both. HTML is therefore over only when its block has ended and the elements
 * that it opened are closed.
 */
export interface HtmlBlockTracker {
  /** Reads the next line that is neither blank nor code. */
  readonly read: (line: string) => void
  readonly readBlank: () => void
  /** True if lines are raw HTML, rather than Markdown inside an element. */
  readonly isRaw: () => boolean
  /** True if text that follows the next blank line would still be inside an open HTML element. */
  readonly isOpen: () => boolean
}

export function trackMarkdownHtmlBlocks(): HtmlBlockTracker {
  /** The text that ends the current block; null outside of a block. */
  let blockEnd: string | null = null
  let depth = 0
  return {
    read(line) {
      if (blockEnd === null && !line.includes('<')) return
      const lower = line.toLowerCase()
      const start = findHtmlStart(lower)
      const newBlockEnd = start === NOT_FOUND ? null : findBlockEnd(lower.slice(start))
      if (start !== NOT_FOUND || blockEnd === BLANK_LINE) depth += countTags(lower, OPENING_TAGS)
      if (depth > 0) depth = Math.max(0, depth - countTags(lower, CLOSING_TAGS))
      // The line that ends one block may start another.
      if (blockEnd === null || blockEnd === BLANK_LINE) blockEnd = newBlockEnd ?? blockEnd
      else if (lower.includes(blockEnd)) blockEnd = newBlockEnd
    },
    readBlank() {
      if (blockEnd === BLANK_LINE) blockEnd = null
    },
    isRaw: () => blockEnd !== null,
    isOpen: () => depth > 0 || (blockEnd !== null && blockEnd !== BLANK_LINE),
  }
}

const BLANK_LINE = '\n'
const NOT_FOUND = -1

/** Container elements, and the elements that clients render a model's reasoning with. */
const ELEMENT_NAMES =
  'details|summary|think|thinking|reason|reasoning|thought|code_interpreter|div|section|article|aside|main|nav|header|footer|form|fieldset|figure|table|thead|tbody|tr|td|th|ul|ol|dl|blockquote|center|svg|math|iframe|object|video|audio|canvas|select|button|template|noscript'
const OPENING_TAGS = new RegExp(`<(?:${ELEMENT_NAMES})(?![\\w-])`, 'g')
const CLOSING_TAGS = new RegExp(`</(?:${ELEMENT_NAMES})(?![\\w-])`, 'g')

function countTags(line: string, tags: RegExp): number {
  return line.match(tags)?.length ?? 0
}

/** Returns where HTML starts in the line, after list and quote signs: 2 for `> <div>`. */
function findHtmlStart(line: string): number {
  const start = /^[\s>*+-]*(?:\d{1,9}[.)]\s+)?/.exec(line)?.[0].length ?? 0
  return /^<[a-z/!?]/.test(line.slice(start, start + 2)) ? start : NOT_FOUND
}

/** Returns the text that ends the block which starts with this line; null if the line ends it. */
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
