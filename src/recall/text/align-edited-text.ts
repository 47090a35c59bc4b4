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
  readonly replacements: readonly (Message | null)[]
  /** The client's words in front of a recorded message, by its number; 0 if there is none. */
  readonly textBefore: ReadonlyMap<number, readonly ClientText[]>
  readonly textAfter: ReadonlyMap<number, readonly ClientText[]>
  /** The messages in their place that the client has with other blanks that say nothing. */
  readonly restoredMessages: ReadonlySet<number>
}

export interface ClientText {
  readonly message: Message
  /** The number of the client's message that they are from. */
  readonly messageIndex: number
}

/**
 * `said` is without markers, and without messages that say nothing. Where the end is open, something
 * that the client is not shown was recorded behind the last message: words behind it are no more of it.
 */
export function alignEditedText(
  recorded: readonly Message[],
  clientMessages: readonly Message[],
  hasOpenEnd = false,
): TextAlignment {
  const texts = clientMessages.map(({ content }) => textOf(content))
  const lines = texts.flatMap(splitIntoLines)
  const clientLines = new Set(lines.map(({ text }) => text))
  const recordedLines = recorded.map((message) =>
    trimFirstLine(chooseRecordedLines(readMessageText(message), clientLines), clientLines),
  )
  const anchors = findLineAnchors(
    recordedLines,
    lines.map(({ text }) => text),
  )
  const replacements = recorded.map((message, index) =>
    anchors[index] !== null || recordedLines[index]?.length === 0 ? message : null,
  )
  const restoredMessages = new Set<number>()
  const state: AlignmentState = {
    recorded,
    clientMessages,
    texts,
    lines,
    recordedLines,
    hasOpenEnd,
    replacements,
    textBefore: new Map(),
    textAfter: new Map(),
    restoredMessages,
  }
  let previousMessage: number | null = null
  let startLine = 0
  for (const [nextMessage, endLine] of anchors.entries()) {
    if (endLine === null) continue
    alignGap(state, { previousMessage, nextMessage, startLine, endLine })
    if (!isSameText(state, nextMessage, endLine)) restoredMessages.add(nextMessage)
    previousMessage = nextMessage
    startLine = endLine + (recordedLines[nextMessage]?.length ?? 0)
  }
  alignGap(state, { previousMessage, nextMessage: null, startLine, endLine: lines.length })
  return state
}

interface AlignmentState extends TextAlignment {
  readonly recorded: readonly Message[]
  readonly clientMessages: readonly Message[]
  readonly texts: readonly string[]
  readonly lines: readonly TextLine[]
  readonly recordedLines: readonly (readonly string[])[]
  readonly hasOpenEnd: boolean
  readonly replacements: (Message | null)[]
  readonly textBefore: Map<number, readonly ClientText[]>
  readonly textAfter: Map<number, readonly ClientText[]>
}

/** A line with something in it; or a message that has only other parts, such as images. */
interface TextLine {
  /** The number of the message that it is in, and its place there. */
  readonly messageIndex: number
  readonly start: number
  readonly end: number
  readonly text: string
  readonly isFirst: boolean
  readonly isLast: boolean
}

/** What lies between two messages that are where they were, and the client's lines there. */
interface Gap {
  readonly previousMessage: number | null
  readonly nextMessage: number | null
  readonly startLine: number
  readonly endLine: number
}

function alignGap(state: AlignmentState, gap: Gap): void {
  const { recorded, replacements, textBefore, textAfter } = state
  const { previousMessage, nextMessage, startLine, endLine } = gap
  if (startLine >= endLine) return
  const firstSlot = previousMessage === null ? 0 : previousMessage + 1
  const openSlots = replacements
    .slice(firstSlot, nextMessage ?? replacements.length)
    .flatMap((replacement, index) =>
      replacement === null
        ? [{ slotMessage: firstSlot + index, text: normalizeMessage(recorded[firstSlot + index]) }]
        : [],
    )
  if (openSlots.length === 0) {
    if (nextMessage === null && previousMessage !== null)
      alignContinuation(state, previousMessage, startLine, endLine)
    else textBefore.set(nextMessage ?? 0, buildClientMessages(state, startLine, endLine))
    return
  }
  const surplus: ClientText[] = []
  let latestSlot = firstSlot
  let nextSlot = 0
  for (const piece of buildClientMessages(state, startLine, endLine)) {
    const text = normalizeMessage(piece.message)
    const matchingOffset = openSlots
      .slice(nextSlot, nextSlot + MAX_SKIPPED_MESSAGES)
      .findIndex((slot) => slot.text.startsWith(text) || text.startsWith(slot.text))
    const slotIndex = nextSlot + Math.max(matchingOffset, 0)
    const slot = openSlots[slotIndex]
    if (slot === undefined) surplus.push(piece)
    else {
      replacements[slot.slotMessage] = copyPhase(recorded[slot.slotMessage], piece.message)
      nextSlot = slotIndex + 1
      latestSlot = slot.slotMessage
    }
  }
  textAfter.set(latestSlot, surplus)
}

/** Nobody leaves out so many texts and edits the next. */
const MAX_SKIPPED_MESSAGES = 32

function normalizeMessage(message: Message | undefined): string {
  return message === undefined ? '' : removeEmptyFences(normalizeText(textOf(message.content)))
}

/** Words behind the last of all messages: it was continued, if they are in one message with it. */
function alignContinuation(
  state: AlignmentState,
  previousMessage: number,
  startLine: number,
  endLine: number,
): void {
  const { lines, recordedLines, recorded, replacements, textAfter, hasOpenEnd } = state
  const firstLine = startLine - (recordedLines[previousMessage]?.length ?? 0)
  const isSameMessage =
    !hasOpenEnd && lines[firstLine]?.messageIndex === lines[startLine]?.messageIndex
  const [first, ...remaining] = buildClientMessages(
    state,
    isSameMessage ? firstLine : startLine,
    endLine,
  )
  if (first === undefined) return
  if (isSameMessage)
    replacements[previousMessage] = copyPhase(recorded[previousMessage], first.message)
  textAfter.set(previousMessage, isSameMessage ? remaining : [first, ...remaining])
}

function copyPhase(recorded: Message | undefined, piece: Message): Message {
  if (recorded?.phase === undefined || piece.phase !== undefined) return piece
  return { ...piece, phase: recorded.phase }
}

/** The lines as messages: one for each message of the client that they are from. */
function buildClientMessages(
  { lines, clientMessages, texts }: AlignmentState,
  startLine: number,
  endLine: number,
): readonly ClientText[] {
  const messages: ClientText[] = []
  for (let index = startLine; index < endLine;) {
    const first = lines[index]
    let last = first
    for (; index < endLine && lines[index]?.messageIndex === first?.messageIndex; index += 1)
      last = lines[index]
    const message = first === undefined ? undefined : clientMessages[first.messageIndex]
    if (first === undefined || last === undefined || message === undefined) continue
    if (first.isFirst && last.isLast) {
      messages.push({ message: removeRecordedFields(message), messageIndex: first.messageIndex })
      continue
    }
    const text = texts[first.messageIndex]?.slice(first.start, last.end) ?? ''
    const content = [{ type: 'output_text', text } as const]
    messages.push({
      message: { type: 'message', role: 'assistant', content },
      messageIndex: first.messageIndex,
    })
  }
  return messages
}

/** Of what else a client has with a message, nothing is known to be true of the edited one. */
function removeRecordedFields(message: Message): Message {
  const { id, status, native, origin, ...rest } = message
  return id === undefined && status === undefined && native === undefined && origin === undefined
    ? message
    : rest
}

function splitIntoLines(text: string, messageIndex: number): readonly TextLine[] {
  const allLines = findLineRanges(text).map(([start, end]) => ({
    messageIndex,
    start,
    end,
    text: cleanLine(text.slice(start, end)),
  }))
  const lines = allLines.filter(({ text }) => text !== '')
  // No text is found at a line of its own kind.
  const nonEmpty = lines.length > 0 ? lines : [{ messageIndex, start: 0, end: 0, text: '\n' }]
  return nonEmpty.map((line, index) => ({
    ...line,
    // Clients trim what they send.
    text: index === 0 && line.text !== '\n' ? line.text.trimStart() : line.text,
    isFirst: index === 0,
    isLast: index === nonEmpty.length - 1,
  }))
}

function readMessageText({ content }: Message): string {
  return removeDetailsBlocks(textOf(content))
}

/** The lines as they were recorded; or those that a client has left of them, if it has them all. */
function chooseRecordedLines(text: string, clientLines: ReadonlySet<string>): readonly string[] {
  const lines = listNonBlankLines(text)
  if (startsWithThinkBlock(text) || lines.every((line) => clientLines.has(line))) return lines
  for (const unclosedRule of ['cut', 'kept'] as const) {
    const remainingLines =
      splitAtThinkBlocks(text, unclosedRule)?.flatMap((piece) => listNonBlankLines(piece)) ?? []
    if (remainingLines.length > 0 && remainingLines.every((line) => clientLines.has(line)))
      return remainingLines
  }
  return lines
}

function listNonBlankLines(text: string): readonly string[] {
  return findLineRanges(text)
    .map(([start, end]) => cleanLine(text.slice(start, end)))
    .filter((line) => line !== '')
}

/** With its indentation. Of one line nothing is known of what stands around it. */
function cleanLine(line: string): string {
  return normalizeLineBreaks(removeMarkerLikeText(line)).trimEnd()
}

/** Its first line as the client has it: with the indentation, or as it is left where that is trimmed. */
function trimFirstLine(
  lines: readonly string[],
  clientLines: ReadonlySet<string>,
): readonly string[] {
  const [first, ...remaining] = lines
  return first === undefined || clientLines.has(first) ? lines : [first.trimStart(), ...remaining]
}

/** Whether nothing is lost or won where the recorded message takes the place of the client's lines. */
function isSameText(
  { lines, texts, recordedLines, recorded }: AlignmentState,
  messageIndex: number,
  lineIndex: number,
): boolean {
  const first = lines[lineIndex]
  const last = lines[lineIndex + (recordedLines[messageIndex]?.length ?? 1) - 1]
  const message = recorded[messageIndex]
  // Where the message begins in one of the client's and ends in another, it was parted at a line.
  if (first === undefined || message === undefined) return true
  if (first.messageIndex !== last?.messageIndex) return true
  const clientText = texts[first.messageIndex]?.slice(first.start, last.end) ?? ''
  return (
    normalizeLineBreaks(clientText).trim() === normalizeLineBreaks(readMessageText(message)).trim()
  )
}

/** Where the lines of a text begin and end, their breaks not among them. */
function findLineRanges(text: string): readonly (readonly [number, number])[] {
  const lines: [number, number][] = []
  for (let start = 0; start <= text.length;) {
    const lineBreak = text.indexOf('\n', start)
    const end = lineBreak < 0 ? text.length : lineBreak
    lines.push([start, text[end - 1] === '\r' ? end - 1 : end])
    start = end + 1
  }
  return lines
}
