/**
 * Splits a client's list into answer segments (each consists of consecutive model-made items),
 * collects the keys with which the store finds their turns, and computes fingerprints.
 *
 * A fingerprint is a hash of a segment's text and calls and of all earlier segments, so the same
 * text in another branch has another fingerprint. Of a round's user messages, it covers only the
 * question, i.e. the last line of the first message: clients add documents before that line, and
 * suggestions after that message, and leave both out of the next request. It does not cover
 * instructions.
 */
import { isGatewayToolItem } from '../core/items/gateway-tool-items.ts'
import { isTextOrRefusal, textOfPart, type Item, type Message, type Part } from '../core/item.ts'
import { extractMarkers } from '../core/markers/format-and-extract-markers.ts'
import { readReasoningReferences } from '../core/markers/reasoning-reference.ts'
import { isItemOfAnswer } from '../core/items/is-item-of-answer.ts'
import { readToolCallIdentity, type ToolCallIdentity } from '../core/items/tool-call-pairs.ts'
import { isUserMessage } from '../core/items/rounds-and-pinned-items.ts'
import type { LocatedMessage } from './located-message.ts'
import { digestText } from '../core/text/digest.ts'
import {
  normalizeLine,
  removeEmptyFences,
  normalizeTextOfParts,
  normalizeAssistantText,
} from './text/normalize-text.ts'

export interface SegmentedHistory {
  readonly segments: readonly Segment[]
  readonly lookupKeys: {
    readonly turnIds: readonly string[]
    readonly callIds: readonly string[]
    readonly fingerprints: readonly string[]
  }
  /**
   * Everything before the next answer that this answer's fingerprint will cover: all earlier answer
   * segments, and a segment at the end of the list, because the next answer continues it.
   */
  readonly nextFingerprintInput: FingerprintInput
  /** The messages of the client's branch, if it sends their ids. */
  readonly messages?: readonly LocatedMessage[]
}

/**
 * An answer segment, i.e. consecutive model-made items in the client's list: from index `start` up
 * to, but not including, index `end`.
 */
export interface Segment {
  readonly start: number
  readonly end: number
  /**
   * The user messages between this answer segment and the last one before it that has text or
   * calls.
   */
  readonly userMessages: readonly Item[]
  /** The last user message before the answer segment; `null` if there is none. */
  readonly lastUserMessage: Item | null
  /** The first user message after the answer segment; `null` if there is none. */
  readonly nextUserMessage: Item | null
  /** The tool outputs between the previous answer segment and this one. */
  readonly toolOutputs: readonly Item[]
  /** The answer segment's text as `normalizeText` returns it: without whitespace and markers. */
  readonly normalizedText: string
  /**
   * Ids of the turns that the markers in the answer segment name, and the references beside its
   * reasoning, in their order; an id may occur twice.
   */
  readonly markerTurnIds: readonly string[]
  readonly callIds: readonly string[]
  /**
   * `null` for an answer segment without text and calls. Some clients do not send such a segment
   * back, so the fingerprints of later segments must not depend on it.
   */
  readonly fingerprint: string | null
}

/** The values from which the fingerprint of an answer segment is computed. */
export interface FingerprintInput {
  /**
   * The fingerprint of the last answer segment before this one that has a fingerprint; `''` if
   * there is none.
   */
  readonly previousFingerprint: string
  /**
   * The last line of the round's question for the first answer segment of a round; `''` for the
   * round's other segments.
   */
  readonly questionLine: string
  readonly normalizedText: string
  readonly callIds: readonly string[]
}

export function splitIntoSegments(items: readonly Item[]): SegmentedHistory {
  const segments: (Segment & { nextUserMessage: Item | null })[] = []
  let previousFingerprint = ''
  let newQuestion: string | null = null
  let roundQuestion = ''
  let userMessages: Item[] = []
  let lastUserMessage: Item | null = null
  let isTextSeen = false
  let isRoundAnswered = true
  let toolOutputs: Item[] = []
  let openSegment: OpenSegment | null = null
  const createSegment = (start: number): OpenSegment => ({
    start,
    end: start,
    previousFingerprint,
    questionLine: newQuestion ?? '',
    normalizedText: '',
    markerTurnIds: [],
    callIds: [],
  })
  const closeSegment = (segment: OpenSegment): void => {
    const { start, end, normalizedText, markerTurnIds, callIds } = segment
    const isEmpty = removeEmptyFences(normalizedText) === '' && callIds.length === 0
    const fingerprint = isEmpty ? null : computeFingerprint(segment)
    segments.push({
      start,
      end,
      userMessages,
      lastUserMessage,
      nextUserMessage: null,
      toolOutputs,
      normalizedText,
      markerTurnIds,
      callIds,
      fingerprint,
    })
    isRoundAnswered = true
    toolOutputs = []
    if (fingerprint === null) return
    isTextSeen = true
    previousFingerprint = fingerprint
    newQuestion = null
  }
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index] as Item
    if (isItemOfAnswer(item)) {
      if (isEmptyAssistantMessage(item) && readReasoningReferences(item).length === 0) continue
      openSegment ??= createSegment(index)
      addItemToSegment(openSegment, item, index)
      continue
    }
    if (openSegment !== null) closeSegment(openSegment)
    openSegment = null
    if (readCallId(item, 'output') !== null) toolOutputs.push(item)
    if (!isUserMessage(item)) continue
    const previousSegment = segments.at(-1)
    if (previousSegment !== undefined) previousSegment.nextUserMessage ??= item
    if (isTextSeen) userMessages = []
    userMessages.push(item)
    lastUserMessage = item
    isTextSeen = false
    if (isRoundAnswered) roundQuestion = findLastLine(item)
    isRoundAnswered = false
    // Clients may omit an answer without text between two questions. In both cases, the fingerprint
    // of the next answer covers only the first of these questions.
    newQuestion ??= roundQuestion
  }
  const next = openSegment ?? createSegment(items.length)
  if (openSegment !== null) closeSegment(openSegment)
  return {
    segments,
    lookupKeys: {
      turnIds: [...new Set(segments.flatMap(({ markerTurnIds }) => markerTurnIds))],
      callIds: [...new Set(segments.flatMap(({ callIds }) => callIds))],
      fingerprints: segments.flatMap(({ fingerprint }) => fingerprint ?? []),
    },
    nextFingerprintInput: next,
  }
}

/**
 * Computes the fingerprint that the next answer will have when the client sends it back. The
 * answer's turn is then found by it.
 */
export function fingerprintAnswer(
  { nextFingerprintInput }: Pick<SegmentedHistory, 'nextFingerprintInput'>,
  answerItems: readonly Item[],
): string {
  return computeFingerprint({
    ...nextFingerprintInput,
    normalizedText: nextFingerprintInput.normalizedText + normalizeAssistantText(answerItems),
    callIds: [...nextFingerprintInput.callIds, ...listCallIds(answerItems)],
  })
}

/**
 * True for an assistant message without text or other parts. Clients store such a message for a
 * failed answer.
 */
export function isEmptyAssistantMessage(item: Item): boolean {
  return item.type === 'message' && item.role === 'assistant' && item.content.every(isBlank)
}

function isBlank(part: Part): boolean {
  return isTextOrRefusal(part) && !/\S/.test(textOfPart(part))
}

interface OpenSegment extends FingerprintInput {
  readonly start: number
  end: number
  normalizedText: string
  readonly markerTurnIds: string[]
  readonly callIds: string[]
}

function addItemToSegment(segment: OpenSegment, item: Item, index: number): void {
  segment.end = index + 1
  for (const { turnId } of readReasoningReferences(item)) segment.markerTurnIds.push(turnId)
  if (item.type !== 'message') {
    segment.callIds.push(...listCallIds([item]))
    return
  }
  segment.normalizedText += normalizeTextOfParts(item.content)
  // `push(...ids)` would fail for hundreds of thousands of markers, because a call cannot have that many arguments.
  for (const turnId of listMarkerTurnIds(item)) segment.markerTurnIds.push(turnId)
}

/** Lists the ids of the turns that the markers in a message name. */
export function listMarkerTurnIds({ content }: Message): readonly string[] {
  return content.flatMap((part) =>
    part.type === 'output_text'
      ? extractMarkers(part.text).markers.map(({ turnId }) => turnId)
      : [],
  )
}

/**
 * Returns the call id of an item if the item is the requested side (`call` or `output`) of a tool
 * call; `null` for other items.
 */
export function readCallId(item: Item, side: ToolCallIdentity['side']): string | null {
  const callEnd = readToolCallIdentity(item)
  return callEnd?.side === side && callEnd.callId !== '' ? callEnd.callId : null
}

/**
 * Lists the ids of the tool calls that the client sees and sends back, i.e. of all calls except
 * those of gateway tools.
 */
function listCallIds(items: readonly Item[]): readonly string[] {
  return items.flatMap((item) => (isGatewayToolItem(item) ? [] : (readCallId(item, 'call') ?? [])))
}

function computeFingerprint({
  previousFingerprint,
  questionLine,
  normalizedText,
  callIds,
}: FingerprintInput): string {
  return digestText(
    `${previousFingerprint}\n${questionLine}\n${removeEmptyFences(normalizedText)}\n${JSON.stringify(callIds)}`,
  )
}

/** Returns the last non-blank line of a message, without whitespace; `''` if there is none. */
function findLastLine(item: Item): string {
  if (item.type !== 'message') return ''
  for (const part of item.content.toReversed()) {
    const text = textOfPart(part)
    for (let end = text.length; end > 0;) {
      const start = text.lastIndexOf('\n', end - 1) + 1
      const line = normalizeLine(text.slice(start, end))
      if (line !== '') return line
      end = start - 1
    }
  }
  return ''
}
