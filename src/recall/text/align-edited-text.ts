/**
 * Compares an answer's text, which the user edited, with the recorded messages, so that the user's
 * edits are sent and the unedited messages stay as recorded. A recorded message is unedited if the
 * client still has all its lines in order. Client text between two unedited messages replaces the
 * recorded messages between them: if A, B, C were recorded and the client has A, X, C, then X
 * replaces B.
 */
import { removeDetailsBlocks } from '../../core/text/remove-details-blocks.ts'
import { textOf, type Message } from '../../core/item.ts'
import { locateTexts } from './locate-unchanged-texts.ts'
import { normalizeLineBreaks } from './match-unedited-text.ts'
import { normalizeText, removeEmptyFences } from './normalize-text.ts'
import { startsWithThinkBlock, listTextsAroundThinkBlocks } from './remove-think-blocks.ts'
import { type TextLine, splitIntoLines, listNonBlankLines } from './split-into-lines.ts'

export interface TextAlignment {
  /**
   * One entry per recorded message: the message itself if it is unedited, the client's text that
   * replaces it, or `null` if the user removed it.
   */
  readonly replacements: readonly (Message | null)[]
  /**
   * Client text that replaces no recorded message and is inserted before one, by that message's
   * index. If no message was recorded, the index is 0.
   */
  readonly textBefore: ReadonlyMap<number, readonly ClientTextPiece[]>
  readonly textAfter: ReadonlyMap<number, readonly ClientTextPiece[]>
  /**
   * Indexes of unedited messages that the client has with other blank lines, other trailing
   * whitespace, or without think blocks.
   */
  readonly reformattedMessages: ReadonlySet<number>
}

export interface ClientTextPiece {
  readonly piece: Message
  /** Index of the client's message that contains the piece. */
  readonly clientMessageIndex: number
}

/**
 * Returns the client's text for each recorded message, and the client's text between them.
 * `clientMessages` have no markers, and none is empty. `hasOpenEnd` is true if the client has text
 * after recorded items that it does not see, e.g. reasoning. Client text after the last recorded
 * message is then a new message, not the continuation of that message.
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
  const anchors = locateTexts(
    recordedLines,
    lines.map(({ text }) => text),
  )
  const replacements = recorded.map((message, index) =>
    anchors[index] !== null || recordedLines[index]?.length === 0 ? message : null,
  )
  const reformattedMessages = new Set<number>()
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
    reformattedMessages,
  }
  let previousMessage: number | null = null
  let startLine = 0
  for (const [nextMessage, endLine] of anchors.entries()) {
    if (endLine === null) continue
    alignGap(state, { previousMessage, nextMessage, startLine, endLine })
    if (!isSameText(state, nextMessage, endLine)) reformattedMessages.add(nextMessage)
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
  readonly textBefore: Map<number, readonly ClientTextPiece[]>
  readonly textAfter: Map<number, readonly ClientTextPiece[]>
}

/**
 * The client's lines between two unedited recorded messages, from `startLine` up to, but not
 * including, `endLine`. A message index is `null` at the start or end of the text.
 */
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
  const surplus: ClientTextPiece[] = []
  let latestSlot = firstSlot
  let nextSlot = 0
  for (const clientText of buildClientMessages(state, startLine, endLine)) {
    const text = normalizeMessage(clientText.piece)
    const matchingOffset = openSlots
      .slice(nextSlot, nextSlot + MAX_SKIPPED_MESSAGES)
      .findIndex((slot) => slot.text.startsWith(text) || text.startsWith(slot.text))
    const slotIndex = nextSlot + Math.max(matchingOffset, 0)
    const slot = openSlots[slotIndex]
    if (slot === undefined) surplus.push(clientText)
    else {
      replacements[slot.slotMessage] = copyPhase(recorded[slot.slotMessage], clientText.piece)
      nextSlot = slotIndex + 1
      latestSlot = slot.slotMessage
    }
  }
  textAfter.set(latestSlot, surplus)
}

/**
 * Max number of recorded messages among which the original of an edited message is searched. Those
 * before the original were removed by the user.
 */
const MAX_SKIPPED_MESSAGES = 32

function normalizeMessage(message: Message | undefined): string {
  return message === undefined ? '' : removeEmptyFences(normalizeText(textOf(message.content)))
}

/**
 * Adds the client's text after the last recorded message. Text in the same client message continues
 * the recorded message; text in another client message is a new message. With `hasOpenEnd`, all of
 * it is new.
 */
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
  const fromLine = isSameMessage ? firstLine : startLine
  const [first, ...remaining] = buildClientMessages(state, fromLine, endLine)
  if (first === undefined) return
  if (isSameMessage)
    replacements[previousMessage] = copyPhase(recorded[previousMessage], first.piece)
  textAfter.set(previousMessage, isSameMessage ? remaining : [first, ...remaining])
}

function copyPhase(recorded: Message | undefined, piece: Message): Message {
  if (recorded?.phase === undefined || piece.phase !== undefined) return piece
  return { ...piece, phase: recorded.phase }
}

/**
 * Builds messages from a range of the client's lines: one from each client message that has some of
 * these lines.
 */
function buildClientMessages(
  { lines, clientMessages, texts }: AlignmentState,
  startLine: number,
  endLine: number,
): readonly ClientTextPiece[] {
  const linesByMessage = Map.groupBy(
    lines.slice(startLine, endLine),
    ({ messageIndex }) => messageIndex,
  )
  return [...linesByMessage].flatMap(([messageIndex, messageLines]) => {
    const [first, last] = [messageLines[0], messageLines.at(-1)]
    const message = clientMessages[messageIndex]
    if (first === undefined || last === undefined || message === undefined) return []
    if (first.isFirst && last.isLast)
      return [{ piece: removeRecordedFields(message), clientMessageIndex: messageIndex }]
    const text = texts[messageIndex]?.slice(first.start, last.end) ?? ''
    const content = [{ type: 'output_text', text } as const]
    const piece: Message = { type: 'message', role: 'assistant', content }
    return [{ piece, clientMessageIndex: messageIndex }]
  })
}

/**
 * Removes the fields of a client's message that may describe the recorded text instead of the
 * edited one: id, status, origin and provider-specific fields, e.g. a signature.
 */
function removeRecordedFields(message: Message): Message {
  const { id, status, native, origin, ...rest } = message
  return id === undefined && status === undefined && native === undefined && origin === undefined
    ? message
    : rest
}

function readMessageText({ content }: Message): string {
  return removeDetailsBlocks(textOf(content))
}

/**
 * Returns the non-blank lines of a recorded text that the client should have. The lines of think
 * blocks (`<think>…</think>`), which some clients remove, are left out if the client has all other
 * lines but not these. A block at the start of the text is never left out.
 */
function chooseRecordedLines(text: string, clientLines: ReadonlySet<string>): readonly string[] {
  const lines = listNonBlankLines(text)
  if (startsWithThinkBlock(text) || lines.every((line) => clientLines.has(line))) return lines
  for (const unclosedRule of ['cut', 'keep'] as const) {
    const remainingLines =
      listTextsAroundThinkBlocks(text, unclosedRule)?.flatMap((piece) =>
        listNonBlankLines(piece),
      ) ?? []
    if (remainingLines.length > 0 && remainingLines.every((line) => clientLines.has(line)))
      return remainingLines
  }
  return lines
}

/**
 * Removes the indentation of a message's first line if the client does not have the line with it,
 * because clients trim messages.
 */
function trimFirstLine(lines: readonly string[], known: ReadonlySet<string>): readonly string[] {
  const [first, ...remaining] = lines
  return first === undefined || known.has(first) ? lines : [first.trimStart(), ...remaining]
}

/**
 * True if the client has the recorded message with the same blank lines and trailing whitespace.
 * Line ends (CRLF or LF) and whitespace around the message do not count.
 */
function isSameText(
  { lines, texts, recordedLines, recorded }: AlignmentState,
  messageIndex: number,
  lineIndex: number,
): boolean {
  const first = lines[lineIndex]
  const last = lines[lineIndex + (recordedLines[messageIndex]?.length ?? 1) - 1]
  const message = recorded[messageIndex]
  // A recorded message that the client split into two at a line break counts as equal.
  if (first === undefined || message === undefined) return true
  if (first.messageIndex !== last?.messageIndex) return true
  const clientText = texts[first.messageIndex]?.slice(first.start, last.end) ?? ''
  const recordedText = readMessageText(message)
  return normalizeLineBreaks(clientText).trim() === normalizeLineBreaks(recordedText).trim()
}
