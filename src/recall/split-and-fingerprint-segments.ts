/**
 * Splits a client's list into segments of consecutive model-made items, collects the keys for the
 * lookup of their turns, and computes the fingerprint of the next answer.
 *
 * A fingerprint covers the segment's text and calls and all earlier segments, so the same text in
 * another branch has another fingerprint. Of a round's user messages, it covers only the question,
 * i.e. the last line of the first message: clients add documents before that line and suggestions
 * after that message for one request only. Instructions are not covered.
 */
import { isGatewayToolItem } from '../core/items/gateway-tool-items.ts'
import { isTextOrRefusal, textOfPart, type Item, type Message, type Part } from '../core/item.ts'
import { extractMarkers } from '../core/markers/extract-turn-markers.ts'
import { isModelItem } from '../core/items/is-model-item.ts'
import { readToolCallIdentity } from '../core/items/tool-call-pairs.ts'
import { isUserMessage } from '../core/items/rounds-and-pinned-items.ts'
import { digestText } from '../core/text/digest.ts'
import {
  normalizeLine,
  removeEmptyFences,
  normalizeParts,
  normalizeAssistantText,
} from './text/normalize-text.ts'

export interface SegmentedHistory {
  readonly segments: readonly Segment[]
  readonly keys: {
    readonly turnIds: readonly string[]
    readonly callIds: readonly string[]
    readonly fingerprints: readonly string[]
  }
  /**
   * The source of the next answer's fingerprint: the segment at the end of the list, or a new one.
   */
  readonly next: FingerprintSource
}

/** Items from `start` up to, but not including, `end`. */
export interface Segment {
  readonly start: number
  readonly end: number
  /** The last line of the question of the segment's round, normalized; `''` if unknown. */
  readonly questionLine: string
  /** The user messages since the last segment with text or calls. */
  readonly userMessages: readonly Item[]
  /** The last user message before the segment. */
  readonly lastUserMessage: Item | null
  /** The first user message after the segment. */
  readonly nextUserMessage: Item | null
  /** The tool outputs directly before the segment. */
  readonly toolOutputs: readonly Item[]
  /** The text as `normalizeText` returns it. */
  readonly normalizedText: string
  /** The turns that markers in the text name, in order; a turn may occur twice. */
  readonly markerTurnIds: readonly string[]
  readonly callIds: readonly string[]
  /** `null` for a segment without text and calls: some clients do not send it back. */
  readonly fingerprint: string | null
}

/** Everything that a fingerprint covers. */
export interface FingerprintSource {
  /** The fingerprint of the previous segment, `''` for the first. */
  readonly previousFingerprint: string
  /** Empty except in the first segment of a round. */
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
  const closeSegment = (segment: OpenSegment): void => {
    const { start, end, normalizedText, markerTurnIds, callIds } = segment
    const isEmpty = removeEmptyFences(normalizedText) === '' && callIds.length === 0
    const fingerprint = isEmpty ? null : computeFingerprint(segment)
    segments.push({
      start,
      end,
      questionLine: roundQuestion,
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
    if (isModelItem(item)) {
      if (isEmptyAssistantMessage(item)) continue
      openSegment ??= createOpenSegment(index, previousFingerprint, newQuestion)
      addItemToSegment(openSegment, item, index)
      continue
    }
    if (openSegment !== null) closeSegment(openSegment)
    openSegment = null
    if (listOutputCallIds(item).length > 0) toolOutputs.push(item)
    if (!isUserMessage(item)) continue
    const previousSegment = segments.at(-1)
    if (previousSegment !== undefined) previousSegment.nextUserMessage ??= item
    if (isTextSeen) userMessages = []
    userMessages.push(item)
    lastUserMessage = item
    isTextSeen = false
    if (isRoundAnswered) roundQuestion = findLastLine(item)
    isRoundAnswered = false
    // The question stays open after a segment without text, because clients may omit that segment.
    newQuestion ??= roundQuestion
  }
  const next = openSegment ?? createOpenSegment(items.length, previousFingerprint, newQuestion)
  if (openSegment !== null) closeSegment(openSegment)
  return { segments, keys: collectLookupKeys(segments), next }
}

/** Computes the fingerprint of the next answer from its items as the client will send them back. */
export function fingerprintAnswer(
  { next }: Pick<SegmentedHistory, 'next'>,
  answerItems: readonly Item[],
): string {
  return computeFingerprint({
    ...next,
    normalizedText: next.normalizedText + normalizeAssistantText(answerItems),
    callIds: [...next.callIds, ...answerItems.flatMap(listCallIds)],
  })
}

/** Returns the last line of the latest question, the `questionLine` of a segment after these items. */
export function findQuestionLine(items: readonly Item[]): string {
  let questionLine = ''
  let isRoundAnswered = true
  for (const item of items) {
    if (isUserMessage(item) && isRoundAnswered) {
      questionLine = findLastLine(item)
      isRoundAnswered = false
    } else if (isModelItem(item) && !isEmptyAssistantMessage(item)) isRoundAnswered = true
  }
  return questionLine
}

/** True for an assistant message without text or other parts, which clients store for a failed answer. */
export function isEmptyAssistantMessage(item: Item): boolean {
  return item.type === 'message' && item.role === 'assistant' && item.content.every(isBlank)
}

function isBlank(part: Part): boolean {
  return isTextOrRefusal(part) && !/\S/.test(textOfPart(part))
}

interface OpenSegment extends FingerprintSource {
  readonly start: number
  end: number
  normalizedText: string
  readonly markerTurnIds: string[]
  readonly callIds: string[]
}

function createOpenSegment(
  start: number,
  previousFingerprint: string,
  questionLine: string | null,
): OpenSegment {
  return {
    start,
    end: start,
    previousFingerprint,
    questionLine: questionLine ?? '',
    normalizedText: '',
    markerTurnIds: [],
    callIds: [],
  }
}

function addItemToSegment(segment: OpenSegment, item: Item, index: number): void {
  segment.end = index + 1
  if (item.type !== 'message') {
    segment.callIds.push(...listCallIds(item))
    return
  }
  segment.normalizedText += normalizeParts(item.content)
  segment.markerTurnIds.push(...listMarkerTurnIds(item))
}

/** Lists the turns that markers in the message name. */
export function listMarkerTurnIds({ content }: Message): readonly string[] {
  return content.flatMap((part) =>
    part.type === 'output_text'
      ? extractMarkers(part.text).markers.map(({ turnId }) => turnId)
      : [],
  )
}

/** Returns the item's call id, or nothing for gateway tools, which the client does not see. */
function listCallIds(item: Item): readonly string[] {
  if (isGatewayToolItem(item)) return []
  const callEnd = readToolCallIdentity(item)
  return callEnd?.side === 'call' && callEnd.callId !== '' ? [callEnd.callId] : []
}

/** Returns the id of the call that this output belongs to; empty for other items. */
export function listOutputCallIds(item: Item): readonly string[] {
  const callEnd = readToolCallIdentity(item)
  return callEnd?.side === 'output' && callEnd.callId !== '' ? [callEnd.callId] : []
}

function computeFingerprint({
  previousFingerprint,
  questionLine,
  normalizedText,
  callIds,
}: FingerprintSource): string {
  return digestText(
    `${previousFingerprint}\n${questionLine}\n${removeEmptyFences(normalizedText)}\n${JSON.stringify(callIds)}`,
  )
}

/** Returns the last non-blank line of a message, normalized; `''` if there is none. */
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

function collectLookupKeys(segments: readonly Segment[]): SegmentedHistory['keys'] {
  return {
    turnIds: [...new Set(segments.flatMap(({ markerTurnIds }) => markerTurnIds))],
    callIds: [...new Set(segments.flatMap(({ callIds }) => callIds))],
    fingerprints: segments.flatMap(({ fingerprint }) => fingerprint ?? []),
  }
}
