/**
 * Cuts a client's list into runs: what a model has made in one go, as far as the client still has
 * it. Says by which keys the memory can be asked for the turns behind them, and what name the next
 * answer will have.
 *
 * A fingerprint names a run by its words and calls and by all runs before it, so that the same
 * words in another branch have another name. Of what the user said only the question counts, the
 * last line of the first message: clients put text in front of it, and suggestions behind it, for
 * one turn only. Instructions do not count.
 */
import { isGatewayToolItem } from '../core/items/gateway-tool-items.ts'
import { isText, textOfPart, type Item, type Message, type Part } from '../core/item.ts'
import { extractMarkers } from '../core/markers/extract-turn-markers.ts'
import { isModelItem } from '../core/items/is-model-item.ts'
import { callEndOf } from '../core/items/tool-call-pairs.ts'
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
  /** What the next answer goes on from: the run at the end of the list, or a new one. */
  readonly next: FingerprintSource
}

/** The items from `start` up to, and without, `end`. */
export interface Segment {
  readonly start: number
  readonly end: number
  /** What the round was about that it is in, as far as a fingerprint says it; empty if unknown. */
  readonly questionLine: string
  /** What a user said since the last run that says anything, before the round or in its beginning. */
  readonly userMessages: readonly Item[]
  /** The last that a user said in front of it. */
  readonly lastUserMessage: Item | null
  /** The first that a user says behind it. */
  readonly nextUserMessage: Item | null
  /** The results of calls that stand in front of it. */
  readonly toolOutputs: readonly Item[]
  /** As `normalizeText` leaves them. */
  readonly normalizedText: string
  /** The turns that its text names, in the order of their markers; a turn may be named twice. */
  readonly markerTurnIds: readonly string[]
  readonly callIds: readonly string[]
  /** `null` for a run that says nothing and calls nothing: some clients do not bring it back. */
  readonly fingerprint: string | null
}

/** All that a fingerprint is made of. */
export interface FingerprintSource {
  /** The fingerprint of the run before. */
  readonly previousFingerprint: string
  /** Empty but at the first run of a round. */
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
    // A run that is silent need not come back: its question is still to be answered.
    newQuestion ??= roundQuestion
  }
  const next = openSegment ?? createOpenSegment(items.length, previousFingerprint, newQuestion)
  if (openSegment !== null) closeSegment(openSegment)
  return { segments, keys: collectLookupKeys(segments), next }
}

/** The name of the next answer, whose items are given as the client will send them back. */
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

/** What these items ask, as `Segment` has it of a run behind them. */
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

/** What a client keeps of an answer that failed: a message with nothing in it. */
export function isEmptyAssistantMessage(item: Item): boolean {
  return item.type === 'message' && item.role === 'assistant' && item.content.every(isBlank)
}

function isBlank(part: Part): boolean {
  return isText(part) && !/\S/.test(textOfPart(part))
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

/** The turns that its text names. */
export function listMarkerTurnIds({ content }: Message): readonly string[] {
  return content.flatMap((part) =>
    part.type === 'output_text' ? extractMarkers(part.text).marks.map(({ turnId }) => turnId) : [],
  )
}

/** Of those calls that its client knows. */
function listCallIds(item: Item): readonly string[] {
  if (isGatewayToolItem(item)) return []
  const callEnd = callEndOf(item)
  return callEnd?.side === 'call' && callEnd.callId !== '' ? [callEnd.callId] : []
}

/** The call whose result this is. */
export function listOutputCallIds(item: Item): readonly string[] {
  const callEnd = callEndOf(item)
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

/** The last line with anything in it. */
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
