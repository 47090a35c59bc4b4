/**
 * Follows a Markdown text as it comes and knows where a line of our own may stand in it, unseen and
 * without a change to what is seen: directly behind a blank line, at the top level, in front of a
 * paragraph. The readers of Markdown that clients use differ; where they do, there is no such place.
 *
 * However the text is cut, what is known of it is the same; of a piece, the first place is told.
 */
import { trackMarkdownCodeFences } from '../../../core/text/track-markdown-code-fences.ts'
import { trackMarkdownHtmlBlocks } from './track-markdown-html-blocks.ts'
import { trackMarkdownMathBlocks } from './track-markdown-math-blocks.ts'

export interface MarkdownInsertionPoints {
  /** Reads on. The first place in `text`, -1 if there is none. */
  readonly push: (text: string) => number
  /** Another text begins: some clients show it by itself, some behind a blank line. */
  readonly join: () => void
  /** Whether `text`, the beginning of a text, may have a line of our own in front of it. */
  readonly canStartWith: (text: string) => boolean
  /** Whether a line of our own may stand at the end. The text is over by that. */
  readonly canEnd: () => boolean
}

export function trackMarkdownInsertionPoints(): MarkdownInsertionPoints {
  const fences = trackMarkdownCodeFences()
  const html = trackMarkdownHtmlBlocks()
  const math = trackMarkdownMathBlocks()
  let line = ''
  let hasWords = false
  let isAfterBlank = false
  let isTable = false
  /** How many line breaks there are without anything in between. */
  let breaks = 0
  /** Nobody knows any more where it stands. */
  let isLost = false

  const isOpen = (): boolean => isLost || fences.isOpen() || html.isOpen() || math.isOpen()
  const readBlank = (): void => {
    isAfterBlank = true
    isTable = false
    html.readBlank()
  }
  const readWords = (words: string): void => {
    const isCode = fences.read(words, isAfterBlank)
    // Code to some, and HTML to others.
    if (fences.isInDoubt() || (isCode && html.isRaw())) isLost = true
    isAfterBlank = false
    hasWords = true
    if (isCode) return
    html.read(words)
    math.read(words)
    isTable ||= looksLikeTable(words)
  }
  const readLine = (): void => {
    const whole = line.endsWith('\r') ? line.slice(0, -1) : line
    line = ''
    // Alone, it breaks lines for some.
    if (whole.includes('\r')) isLost = true
    if (BLANK.test(whole)) readBlank()
    else readWords(whole)
    breaks = whole === '' ? breaks + 1 : 1
  }
  const isPlace = (code: number): boolean =>
    isAfterBlank &&
    hasWords &&
    breaks === BREAKS &&
    line === '' &&
    beginsParagraph(code) &&
    !isOpen()

  return {
    push(text) {
      let place = -1
      for (let from = 0; from < text.length;) {
        if (place === -1 && isPlace(text.charCodeAt(from))) place = from
        const end = text.indexOf('\n', from)
        if (end === -1) {
          line += text.slice(from)
          break
        }
        line += text.slice(from, end)
        readLine()
        from = end + 1
      }
      return place
    },
    join() {
      if (line !== '') readLine()
      if (isOpen()) isLost = true
      readBlank()
    },
    canStartWith(text) {
      if (line !== '' || isOpen()) return false
      if (!hasWords || beginsParagraph(text.charCodeAt(0))) return true
      // It may belong to a list, or to the code in front of it.
      return !fences.isInList() && !SET_OFF.test(text)
    },
    canEnd() {
      if (line !== '') readLine()
      return hasWords && !isTable && !fences.isInList() && !isOpen()
    },
  }
}

/** A list is none to some if it begins behind certain other things. */
const SET_OFF = /^(?: {4}| {0,3}(?:[\t\d]|[-+*](?:\s|$)))/
/** To Markdown no other character is. */
const BLANK = /^[ \t]*$/
/**
 * One blank line without blanks, which are none to some. Behind more than one,
 * `core/markers/extract-turn-markers.ts` takes the breaks for the marker's own.
 */
const BREAKS = 2

/** A letter, which begins nothing but a paragraph: no list, no heading, no table, no HTML. */
function beginsParagraph(code: number): boolean {
  if (code < 0xc0) return (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
  const isBlank =
    code === 0x1680 || (code >= 0x2000 && code <= 0x206f) || code === 0x3000 || code === 0xfeff
  return !isBlank
}

function looksLikeTable(line: string): boolean {
  if (!line.includes('|')) return false
  return line.trimStart().startsWith('|') || /^[\s|:-]+$/.test(line)
}
