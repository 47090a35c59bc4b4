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
  readonly runs: readonly Segment[]
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
  readonly question: string
  /** What a user said since the last run that says anything, before the round or in its beginning. */
  readonly asked: readonly Item[]
  /** The last that a user said in front of it. */
  readonly lastAsked: Item | null
  /** The first that a user says behind it. */
  readonly nextAsked: Item | null
  /** The results of calls that stand in front of it. */
  readonly results: readonly Item[]
  /** As `normalizeText` leaves them. */
  readonly words: string
  /** The turns that its text names, in the order of their markers; a turn may be named twice. */
  readonly marks: readonly string[]
  readonly callIds: readonly string[]
  /** `null` for a run that says nothing and calls nothing: some clients do not bring it back. */
  readonly fingerprint: string | null
}

/** All that a fingerprint is made of. */
export interface FingerprintSource {
  /** The fingerprint of the run before. */
  readonly before: string
  /** Empty but at the first run of a round. */
  readonly question: string
  readonly words: string
  readonly callIds: readonly string[]
}

export function splitIntoSegments(items: readonly Item[]): SegmentedHistory {
  const runs: (Segment & { nextAsked: Item | null })[] = []
  let before = ''
  let question: string | null = null
  let asked = ''
  let askedBy: Item[] = []
  let lastAsked: Item | null = null
  let isSpoken = false
  let isAnswered = true
  let results: Item[] = []
  let open: OpenRun | null = null
  const close = (run: OpenRun): void => {
    const { start, end, words, marks, callIds } = run
    const isSilent = removeEmptyFences(words) === '' && callIds.length === 0
    const fingerprint = isSilent ? null : fingerprintFor(run)
    const round = { question: asked, asked: askedBy, lastAsked, results }
    runs.push({ start, end, ...round, nextAsked: null, words, marks, callIds, fingerprint })
    isAnswered = true
    results = []
    if (fingerprint === null) return
    isSpoken = true
    before = fingerprint
    question = null
  }
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at] as Item
    if (isModelItem(item)) {
      if (isEmptyAssistantMessage(item)) continue
      open ??= openRun(at, before, question)
      addTo(open, item, at)
      continue
    }
    if (open !== null) close(open)
    open = null
    if (listOutputCallIds(item).length > 0) results.push(item)
    if (!isUserMessage(item)) continue
    const last = runs.at(-1)
    if (last !== undefined) last.nextAsked ??= item
    if (isSpoken) askedBy = []
    askedBy.push(item)
    lastAsked = item
    isSpoken = false
    if (isAnswered) asked = questionIn(item)
    isAnswered = false
    // A run that is silent need not come back: its question is still to be answered.
    question ??= asked
  }
  const next = open ?? openRun(items.length, before, question)
  if (open !== null) close(open)
  return { runs, keys: keysOf(runs), next }
}

/** The name of the next answer, whose items are given as the client will send them back. */
export function fingerprintAnswer(
  { next }: Pick<SegmentedHistory, 'next'>,
  answer: readonly Item[],
): string {
  return fingerprintFor({
    ...next,
    words: next.words + normalizeAssistantText(answer),
    callIds: [...next.callIds, ...answer.flatMap(callIdOf)],
  })
}

/** What these items ask, as `Segment` has it of a run behind them. */
export function findQuestionLine(items: readonly Item[]): string {
  let question = ''
  let isAnswered = true
  for (const item of items) {
    if (isUserMessage(item) && isAnswered) {
      question = questionIn(item)
      isAnswered = false
    } else if (isModelItem(item) && !isEmptyAssistantMessage(item)) isAnswered = true
  }
  return question
}

/** What a client keeps of an answer that failed: a message with nothing in it. */
export function isEmptyAssistantMessage(item: Item): boolean {
  return item.type === 'message' && item.role === 'assistant' && item.content.every(isBlank)
}

function isBlank(part: Part): boolean {
  return isText(part) && !/\S/.test(textOfPart(part))
}

interface OpenRun extends FingerprintSource {
  readonly start: number
  end: number
  words: string
  readonly marks: string[]
  readonly callIds: string[]
}

function openRun(start: number, before: string, question: string | null): OpenRun {
  return { start, end: start, before, question: question ?? '', words: '', marks: [], callIds: [] }
}

function addTo(run: OpenRun, item: Item, at: number): void {
  run.end = at + 1
  if (item.type !== 'message') {
    run.callIds.push(...callIdOf(item))
    return
  }
  run.words += normalizeParts(item.content)
  run.marks.push(...listMarkerTurnIds(item))
}

/** The turns that its text names. */
export function listMarkerTurnIds({ content }: Message): readonly string[] {
  return content.flatMap((part) =>
    part.type === 'output_text' ? extractMarkers(part.text).marks.map(({ turnId }) => turnId) : [],
  )
}

/** Of those calls that its client knows. */
function callIdOf(item: Item): readonly string[] {
  if (isGatewayToolItem(item)) return []
  const end = callEndOf(item)
  return end?.side === 'call' && end.callId !== '' ? [end.callId] : []
}

/** The call whose result this is. */
export function listOutputCallIds(item: Item): readonly string[] {
  const end = callEndOf(item)
  return end?.side === 'output' && end.callId !== '' ? [end.callId] : []
}

function fingerprintFor({ before, question, words, callIds }: FingerprintSource): string {
  return digestText(
    `${before}\n${question}\n${removeEmptyFences(words)}\n${JSON.stringify(callIds)}`,
  )
}

/** The last line with anything in it. */
function questionIn(item: Item): string {
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

function keysOf(runs: readonly Segment[]): SegmentedHistory['keys'] {
  return {
    turnIds: [...new Set(runs.flatMap(({ marks }) => marks))],
    callIds: [...new Set(runs.flatMap(({ callIds }) => callIds))],
    fingerprints: runs.flatMap(({ fingerprint }) => fingerprint ?? []),
  }
}
