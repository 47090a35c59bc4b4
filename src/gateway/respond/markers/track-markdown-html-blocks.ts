/**
 * Whether a Markdown text stands in HTML, as its lines tell one by one. Some readers take HTML for
 * what it is and some for words, and what holds with either is wanted here: HTML is over when its
 * block is, and the elements that it has opened are closed.
 */
export interface HtmlBlockTracker {
  /** The next line with words, which is no code. */
  readonly read: (line: string) => void
  readonly readBlank: () => void
  /** Whether lines are read as HTML, and not as Markdown within an element. */
  readonly isRaw: () => boolean
  /** Whether something would be within an element if it stood behind a blank line. */
  readonly isOpen: () => boolean
}

export function trackMarkdownHtmlBlocks(): HtmlBlockTracker {
  /** What ends the block: a string, or a blank line. */
  let until: string | null = null
  let depth = 0
  return {
    read(line) {
      if (until === null && !line.includes('<')) return
      const lower = line.toLowerCase()
      const start = startOf(lower)
      const begun = start === NOWHERE ? null : endingOf(lower.slice(start))
      if (start !== NOWHERE || until === BLANK) depth += count(lower, OPENED)
      if (depth > 0) depth = Math.max(0, depth - count(lower, CLOSED))
      // What ends one block may be the beginning of another.
      if (until === null || until === BLANK) until = begun ?? until
      else if (lower.includes(until)) until = begun
    },
    readBlank() {
      if (until === BLANK) until = null
    },
    isRaw: () => until !== null,
    isOpen: () => depth > 0 || (until !== null && until !== BLANK),
  }
}

const BLANK = '\n'
const NOWHERE = -1

/** The elements that hold others, and those that clients make out of a model's thoughts. */
const NAMES =
  'details|summary|think|thinking|reason|reasoning|thought|code_interpreter|div|section|article|aside|main|nav|header|footer|form|fieldset|figure|table|thead|tbody|tr|td|th|ul|ol|dl|blockquote|center|svg|math|iframe|object|video|audio|canvas|select|button|template|noscript'
const OPENED = new RegExp(`<(?:${NAMES})(?![\\w-])`, 'g')
const CLOSED = new RegExp(`</(?:${NAMES})(?![\\w-])`, 'g')

function count(line: string, tags: RegExp): number {
  return line.match(tags)?.length ?? 0
}

/** Behind blanks and the marks of lists and quotes. Nowhere if the line does not begin with HTML. */
function startOf(line: string): number {
  const start = /^[\s>*+-]*(?:\d{1,9}[.)]\s+)?/.exec(line)?.[0].length ?? 0
  return /^<[a-z/!?]/.test(line.slice(start, start + 2)) ? start : NOWHERE
}

/** What ends the block that begins so; `null` if it ends in the same line. */
function endingOf(line: string): string | null {
  for (const [opening, ending] of SPECIAL) {
    if (line.startsWith(opening)) return line.includes(ending, opening.length) ? null : ending
  }
  const name = /^<(script|pre|style|textarea)(?![\w-])/.exec(line)?.[1]
  if (name === undefined) return BLANK
  return line.includes(`</${name}>`) ? null : `</${name}>`
}

const SPECIAL = [
  ['<!--', '-->'],
  ['<?', '?>'],
  ['<![cdata[', ']]>'],
  ['<!', '>'],
] as const
