/**
 * Sets what a client says against what was recorded. A recorded text that the client still has,
 * line for line, keeps its place; the words in between are the client's, and take the place of what
 * they were written over.
 */
import { textOf, type Message } from '../../core/item.ts'
import { removeMarkerLikeText } from '../../core/markers/extract-turn-markers.ts'
import { normalizeText, removeEmptyFences } from './normalize-text.ts'
import { findLineAnchors } from './locate-unchanged-texts.ts'
import { normalizeLineBreaks } from './match-recorded-text.ts'
import { startsWithThinkBlock, splitAtThinkBlocks } from './remove-think-blocks.ts'
import { removeDetailsBlocks } from '../../context/cleaning/remove-details-from-text.ts'

export interface TextAlignment {
  /** For each recorded message what stands in its place: itself, the client's words, or nothing. */
  readonly places: readonly (Message | null)[]
  /** The client's words in front of a recorded message, by its number; 0 if there is none. */
  readonly before: ReadonlyMap<number, readonly ClientText[]>
  readonly behind: ReadonlyMap<number, readonly ClientText[]>
  /** The messages in their place that the client has with other blanks that say nothing. */
  readonly restored: ReadonlySet<number>
}

export interface ClientText {
  readonly message: Message
  /** The number of the client's message that they are from. */
  readonly from: number
}

/**
 * `said` is without markers, and without messages that say nothing. Where the end is open, something
 * that the client is not shown was recorded behind the last message: words behind it are no more of it.
 */
export function alignEditedText(
  recorded: readonly Message[],
  said: readonly Message[],
  hasOpenEnd = false,
): TextAlignment {
  const texts = said.map(({ content }) => textOf(content))
  const lines = texts.flatMap(linesOf)
  const known = new Set(lines.map(({ words }) => words))
  const sought = recorded.map((message) => trimmed(linesGiven(wordsOf(message), known), known))
  const anchors = findLineAnchors(
    sought,
    lines.map(({ words }) => words),
  )
  const places = recorded.map((message, at) =>
    anchors[at] !== null || sought[at]?.length === 0 ? message : null,
  )
  const restored = new Set<number>()
  const given = { recorded, said, texts, lines, sought, hasOpenEnd }
  const work: Work = { ...given, places, before: new Map(), behind: new Map(), restored }
  let last: number | null = null
  let from = 0
  for (const [next, to] of anchors.entries()) {
    if (to === null) continue
    fill(work, { last, next, from, to })
    if (!isVerbatim(work, next, to)) restored.add(next)
    last = next
    from = to + (sought[next]?.length ?? 0)
  }
  fill(work, { last, next: null, from, to: lines.length })
  return work
}

interface Work extends TextAlignment {
  readonly recorded: readonly Message[]
  readonly said: readonly Message[]
  readonly texts: readonly string[]
  readonly lines: readonly Line[]
  readonly sought: readonly (readonly string[])[]
  readonly hasOpenEnd: boolean
  readonly places: (Message | null)[]
  readonly before: Map<number, readonly ClientText[]>
  readonly behind: Map<number, readonly ClientText[]>
}

/** A line with something in it; or a message that has only other parts, such as images. */
interface Line {
  /** The number of the message that it is in, and its place there. */
  readonly message: number
  readonly from: number
  readonly to: number
  readonly words: string
  readonly isFirst: boolean
  readonly isLast: boolean
}

/** What lies between two messages that are where they were, and the client's lines there. */
interface Gap {
  readonly last: number | null
  readonly next: number | null
  readonly from: number
  readonly to: number
}

function fill(work: Work, gap: Gap): void {
  const { recorded, places, before, behind } = work
  const { last, next, from, to } = gap
  if (from >= to) return
  const start = last === null ? 0 : last + 1
  const slots = places
    .slice(start, next ?? places.length)
    .flatMap((place, at) =>
      place === null ? [{ at: start + at, words: compact(recorded[start + at]) }] : [],
    )
  if (slots.length === 0) {
    if (next !== null) before.set(next, piecesOf(work, from, to))
    else if (last === null) before.set(0, piecesOf(work, from, to))
    else goOn(work, last, from, to)
    return
  }
  const surplus: ClientText[] = []
  let latest = start
  let open = 0
  for (const piece of piecesOf(work, from, to)) {
    const words = compact(piece.message)
    const likely = slots
      .slice(open, open + MOST_LOOKS)
      .findIndex((slot) => slot.words.startsWith(words) || words.startsWith(slot.words))
    const found = open + Math.max(likely, 0)
    const slot = slots[found]
    if (slot === undefined) surplus.push(piece)
    else {
      places[slot.at] = inPlaceOf(recorded[slot.at], piece.message)
      open = found + 1
      latest = slot.at
    }
  }
  behind.set(latest, surplus)
}

/** Nobody leaves out so many texts and edits the next. */
const MOST_LOOKS = 32

function compact(message: Message | undefined): string {
  return message === undefined ? '' : removeEmptyFences(normalizeText(textOf(message.content)))
}

/** Words behind the last of all messages: it was continued, if they are in one message with it. */
function goOn(work: Work, last: number, from: number, to: number): void {
  const { lines, sought, recorded, places, behind, hasOpenEnd } = work
  const start = from - (sought[last]?.length ?? 0)
  const isOne = !hasOpenEnd && lines[start]?.message === lines[from]?.message
  const [first, ...others] = piecesOf(work, isOne ? start : from, to)
  if (first === undefined) return
  if (isOne) places[last] = inPlaceOf(recorded[last], first.message)
  behind.set(last, isOne ? others : [first, ...others])
}

function inPlaceOf(recorded: Message | undefined, piece: Message): Message {
  if (recorded?.phase === undefined || piece.phase !== undefined) return piece
  return { ...piece, phase: recorded.phase }
}

/** The lines as messages: one for each message of the client that they are from. */
function piecesOf({ lines, said, texts }: Work, from: number, to: number): readonly ClientText[] {
  const pieces: ClientText[] = []
  for (let at = from; at < to;) {
    const first = lines[at]
    let last = first
    for (; at < to && lines[at]?.message === first?.message; at += 1) last = lines[at]
    const message = first === undefined ? undefined : said[first.message]
    if (first === undefined || last === undefined || message === undefined) continue
    if (first.isFirst && last.isLast) {
      pieces.push({ message: own(message), from: first.message })
      continue
    }
    const text = texts[first.message]?.slice(first.from, last.to) ?? ''
    const content = [{ type: 'output_text', text } as const]
    pieces.push({
      message: { type: 'message', role: 'assistant', content },
      from: first.message,
    })
  }
  return pieces
}

/** Of what else a client has with a message, nothing is known to be true of the edited one. */
function own(message: Message): Message {
  const { id, status, native, origin, ...rest } = message
  return id === undefined && status === undefined && native === undefined && origin === undefined
    ? message
    : rest
}

function linesOf(text: string, message: number): readonly Line[] {
  const found = borders(text).map(([from, to]) => ({
    message,
    from,
    to,
    words: lineWords(text.slice(from, to)),
  }))
  const lines = found.filter(({ words }) => words !== '')
  // No text is found at a line of its own kind.
  const spoken = lines.length > 0 ? lines : [{ message, from: 0, to: 0, words: '\n' }]
  return spoken.map((line, at) => ({
    ...line,
    // Clients trim what they send.
    words: at === 0 && line.words !== '\n' ? line.words.trimStart() : line.words,
    isFirst: at === 0,
    isLast: at === spoken.length - 1,
  }))
}

function wordsOf({ content }: Message): string {
  return removeDetailsBlocks(textOf(content))
}

/** The lines as they were recorded; or those that a client has left of them, if it has them all. */
function linesGiven(text: string, known: ReadonlySet<string>): readonly string[] {
  const lines = wordsByLine(text)
  if (startsWithThinkBlock(text) || lines.every((line) => known.has(line))) return lines
  for (const unclosed of ['cut', 'kept'] as const) {
    const left = splitAtThinkBlocks(text, unclosed)?.flatMap((piece) => wordsByLine(piece)) ?? []
    if (left.length > 0 && left.every((line) => known.has(line))) return left
  }
  return lines
}

function wordsByLine(text: string): readonly string[] {
  return borders(text)
    .map(([from, to]) => lineWords(text.slice(from, to)))
    .filter((words) => words !== '')
}

/** With its indentation. Of one line nothing is known of what stands around it. */
function lineWords(line: string): string {
  return normalizeLineBreaks(removeMarkerLikeText(line)).trimEnd()
}

/** Its first line as the client has it: with the indentation, or as it is left where that is trimmed. */
function trimmed(text: readonly string[], known: ReadonlySet<string>): readonly string[] {
  const [first, ...others] = text
  return first === undefined || known.has(first) ? text : [first.trimStart(), ...others]
}

/** Whether nothing is lost or won where the recorded message takes the place of the client's lines. */
function isVerbatim({ lines, texts, sought, recorded }: Work, number: number, at: number): boolean {
  const first = lines[at]
  const last = lines[at + (sought[number]?.length ?? 1) - 1]
  const message = recorded[number]
  // Where the message begins in one of the client's and ends in another, it was parted at a line.
  if (first === undefined || message === undefined || first.message !== last?.message) return true
  const told = texts[first.message]?.slice(first.from, last.to) ?? ''
  return normalizeLineBreaks(told).trim() === normalizeLineBreaks(wordsOf(message)).trim()
}

/** Where the lines of a text begin and end, their breaks not among them. */
function borders(text: string): readonly (readonly [number, number])[] {
  const lines: [number, number][] = []
  for (let from = 0; from <= text.length;) {
    const found = text.indexOf('\n', from)
    const end = found < 0 ? text.length : found
    lines.push([from, text[end - 1] === '\r' ? end - 1 : end])
    from = end + 1
  }
  return lines
}
