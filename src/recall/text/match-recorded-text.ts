/**
 * Whether a client still has what was recorded, word for word. What clients do to a text without
 * editing it does not count: they join messages by two line breaks, by one or by nothing, trim them,
 * end lines in their own way, put markers into code, and take out what looks to them like thinking.
 * Everything else is an edit, also where only the indentation is another.
 */
import { textOf, textOfPart, type Message, type Part } from '../../core/item.ts'
import { extractMarkers, removeMarkerLikeText } from '../../core/markers/extract-turn-markers.ts'
import {
  startsWithThinkBlock,
  splitAtThinkBlocks,
  type UnclosedBlockRule,
} from './remove-think-blocks.ts'
import { removeDetailsBlocks } from '../../context/cleaning/remove-details-from-text.ts'

/**
 * `null` if something was edited. Else the numbers of the recorded messages that the client has with
 * other blank lines, other blanks at the ends of lines, damaged markers, or without what it cut.
 *
 * `given` is without markers, as far as they can be read.
 */
export function matchRecordedText(
  recorded: readonly Message[],
  given: readonly Message[],
): ReadonlySet<number> | null {
  const told = given.map(({ content }) => normalizeLineBreaks(textOf(content)).trim()).join('\n\n')
  const found = findIn(told, recorded, whole)
  if (found !== null) return found
  const cut = sameWhenCut(told, recorded)
  if (cut !== null) return cut
  const unmarked = withoutRemains(told)
  if (unmarked === told) return null
  const isFound = findIn(unmarked, recorded, (text) => [withoutRemains(text)]) !== null
  return isFound ? new Set(recorded.keys()) : null
}

/** The pieces of a recorded text that the client has, one behind the other. */
type Pieces = (text: string) => readonly string[]

const whole: Pieces = (text) => [text]

function sameWhenCut(told: string, recorded: readonly Message[]): ReadonlySet<number> | null {
  const cut = recorded.flatMap(({ content }, at) =>
    leftWhenCut(textOf(content), 'cut') === null ? [] : at,
  )
  if (cut.length === 0) return null
  for (const unclosed of ['cut', 'kept'] as const) {
    const found = findIn(told, recorded, (text) => leftWhenCut(text, unclosed) ?? [text])
    if (found !== null) return new Set([...found, ...cut])
  }
  return null
}

/** `null` if nothing would be cut, and for what begins with thinking. */
function leftWhenCut(text: string, unclosed: UnclosedBlockRule): readonly string[] | null {
  return startsWithThinkBlock(text) ? null : splitAtThinkBlocks(text, unclosed)
}

/** As it is compared: line breaks of one kind, and without what databases of clients take out. */
export function normalizeLineBreaks(text: string): string {
  const unbroken = text.includes('\r') ? text.replaceAll('\r\n', '\n') : text
  return unbroken.includes('\0') ? unbroken.replaceAll('\0', '') : unbroken
}

function findIn(told: string, recorded: readonly Message[], piecesOf: Pieces): Set<number> | null {
  const loose = new Set<number>()
  let at = 0
  for (const [number, { content }] of recorded.entries()) {
    for (const part of content) {
      const found = findPieces(told, at, piecesOf(spoken(part)))
      if (found === null) {
        // Some clients are not shown it.
        if (part.type === 'refusal') continue
        return null
      }
      if (!found.isVerbatim) loose.add(number)
      at = found.end
    }
  }
  return wordsFrom(told, at) === told.length ? loose : null
}

function spoken(part: Part): string {
  return normalizeLineBreaks(removeDetailsBlocks(extractMarkers(textOfPart(part)).text))
}

interface Found {
  readonly end: number
  readonly isVerbatim: boolean
}

function findPieces(told: string, from: number, pieces: readonly string[]): Found | null {
  let end = from
  let isVerbatim = true
  for (const piece of pieces) {
    const found = findPart(told, end, piece)
    if (found === null) return null
    end = found.end
    isVerbatim &&= found.isVerbatim
  }
  return { end, isVerbatim }
}

function findPart(told: string, at: number, text: string): Found | null {
  const first = wordsFrom(text, 0)
  if (first === text.length) return { end: at, isVerbatim: true }
  const from = wordsFrom(told, at)
  const indent = indentIn(told.slice(at, from))
  if (indent !== '' && indent !== indentIn(`\n${text.slice(0, first)}`)) return null
  const words = text.slice(first).trimEnd()
  // To compare a slice is many times quicker than `startsWith`, and nearly always it is the same.
  const end = from + words.length
  if (told.slice(from, end) === words) return { end, isVerbatim: true }
  const loose = endOfLines(told, from, words)
  return loose === null ? null : { end: loose, isVerbatim: false }
}

/** Of the line that begins in these blanks; empty if none does. */
function indentIn(blanks: string): string {
  const lineBreak = blanks.lastIndexOf('\n')
  return lineBreak < 0 ? '' : blanks.slice(lineBreak + 1)
}

/** Where the words end, if they stand there line for line; blank lines aside. */
function endOfLines(told: string, from: number, words: string): number | null {
  let at = from
  for (let start = 0; start < words.length;) {
    const lineBreak = words.indexOf('\n', start)
    const end = lineBreak < 0 ? words.length : lineBreak
    const line = words.slice(start, end).trimEnd()
    if (line !== '') {
      const next = start === 0 ? from : lineBehind(told, at)
      if (next === null || !told.startsWith(line, next)) return null
      at = next + line.length
    }
    start = end + 1
  }
  return at
}

/** Where the next line with anything in it begins; `null` if this one goes on. */
function lineBehind(told: string, at: number): number | null {
  const lineBreak = told.slice(at, wordsFrom(told, at)).lastIndexOf('\n')
  return lineBreak < 0 ? null : at + lineBreak + 1
}

function wordsFrom(text: string, at: number): number {
  BLANKS.lastIndex = at
  BLANKS.exec(text)
  return BLANKS.lastIndex
}

const BLANKS = /\s*/y

/** Without damaged markers, and the fences that were put around one. */
function withoutRemains(text: string): string {
  const unmarked = removeMarkerLikeText(text)
  if (unmarked === text) return text
  const lines: string[] = []
  /** The places of those with something in them. */
  const places: number[] = []
  for (const line of unmarked.split('\n')) {
    const last = places.at(-1)
    if (last !== undefined && isFence(line) && isFence(lines[last] ?? '')) {
      lines.length = last
      places.pop()
      continue
    }
    if (line.trim() !== '') places.push(lines.length)
    lines.push(line)
  }
  return lines.join('\n')
}

function isFence(line: string): boolean {
  return /^(?:`{3,}|~{3,})$/.test(line.trim())
}
