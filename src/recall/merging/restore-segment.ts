/**
 * What a run of a client's list becomes when its turns are known: the recorded items in their
 * recorded order, the very objects, with what the client has edited.
 *
 * Whatever is left out takes along the reasoning that led to nothing else, because reasoning is
 * refused without what followed it.
 */
import type { Item, Message } from '../../core/item.ts'
import { isGatewayToolItem } from '../../core/items/gateway-tool-items.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { callEndOf } from '../../core/items/tool-call-pairs.ts'
import { isSameCall, hasSameContent } from '../compare-items.ts'
import {
  toolCallKey,
  type FindRecordedOutput,
  type RecordedOutput,
} from '../find-recorded-tool-outputs.ts'
import { turnLacksNewInput } from '../matching/turn-lacks-new-input.ts'
import { isEmptyAssistantMessage, type Segment } from '../split-and-fingerprint-segments.ts'
import { alignEditedText, type TextAlignment } from '../text/align-edited-text.ts'
import { extractClientText } from './extract-client-text.ts'
import { isInvisibleTurn, findInvisibleTail } from './find-client-invisible-tail.ts'
import { isNonReplayableItem } from './is-non-replayable-item.ts'
import { isStaleCompaction } from './is-stale-compaction.ts'
import { createReasoningFinder } from './match-client-sent-reasoning.ts'
import { matchUneditedText } from './match-unedited-text.ts'
import {
  type RestoredPiece,
  RESTORED,
  edited,
  NOT_REPLAYED,
  OF_OTHER_WORDS,
  FORGOTTEN,
  asGiven,
  createRecalledPiece,
} from './restored-piece.ts'
import {
  trackUnmatchedClientItems,
  type UnmatchedClientItems,
} from './track-unmatched-client-items.ts'
import {
  trackUnmatchedClientText,
  type UnmatchedClientText,
} from './track-unmatched-client-text.ts'

export interface MatchedSegment {
  readonly run: Segment
  /** What the client sends of it. */
  readonly given: readonly Item[]
  /** At least one. */
  readonly turns: readonly RecordedTurn[]
  readonly replaysTools: boolean
  readonly findOutput: FindRecordedOutput
  /** The client's calls of which it sends the output, too. */
  readonly answered: ReadonlySet<Item>
  /** The outputs behind the run for which the client has no call, by the key of the call. */
  readonly strayOutputs: ReadonlySet<string>
}

export interface RestoredSegment {
  /** `null` if the client's own items say all there is to say. */
  readonly pieces: readonly RestoredPiece[] | null
  /** Outputs that the client forgot, and that belong behind the run. */
  readonly owed: readonly RecordedOutput[]
}

export function restoreSegment(known: MatchedSegment): RestoredSegment {
  const { given, turns } = known
  const spoken = given.filter((item) => !isEmptyAssistantMessage(item))
  const recorded = turns.flatMap((turn) => turn.output)
  const messages = recorded.filter(isMessage)
  const silent = placesOfSilent(known)
  const words = extractClientText(spoken, silent)
  const openEnd = findInvisibleTail(turns, spoken)
  const same = matchUneditedText(known.run, turns, messages, words.messages)
  const aligned = same === null ? alignEditedText(messages, words.messages, openEnd !== null) : null
  const own = spoken.filter(isReasoning)
  const work: Work = {
    ...known,
    aligned,
    loose: trackUnmatchedClientText(aligned, messages.length, words.behind),
    silent,
    restored: aligned?.restored ?? same ?? NONE,
    openEnd,
    recordedMessages: messages.length,
    left: trackUnmatchedClientItems(spoken.filter((item) => !isMessage(item))),
    ownThought: createReasoningFinder(own),
    pieces: [],
    thoughts: [],
    unled: false,
    messages: 0,
    owed: new Map(),
  }
  replaceReasoning(work, own)
  if (messages.length === 0 && openEnd === null) addWords(work, work.loose.rest())
  for (const [at, turn] of turns.entries()) replayTurn(work, turn, at)
  addWords(work, work.loose.rest())
  for (const item of work.left.rest()) work.pieces.push(asGiven(item))
  const items = work.pieces.flatMap(({ item }) => item ?? [])
  const isSame =
    items.length === spoken.length &&
    items.every((item, at) => hasSameContent(item, spoken[at] ?? item))
  // Where an upstream has refused what is before it, its place has to be known.
  const isPlaced = turns.some(({ reasoningRefusedBy }) => reasoningRefusedBy !== null)
  return { pieces: isSame && !isPlaced ? null : work.pieces, owed: [...work.owed.values()].flat() }
}

const NONE: ReadonlySet<number> = new Set()

interface Work extends MatchedSegment {
  /** `null` if the words are as they were. */
  readonly aligned: TextAlignment | null
  /** The recorded messages that the client does not have quite as they were. */
  readonly restored: ReadonlySet<number>
  /** The turn behind which words stand that only the client has. */
  readonly openEnd: RecordedTurn | null
  readonly recordedMessages: number
  /** The client's words that are not of a recorded message. */
  readonly loose: UnmatchedClientText
  /** The places of the turns that went on and say nothing, and whose markers are in the run. */
  readonly silent: ReadonlyMap<string, number>
  /** What of the client's is not in its place yet, messages aside. */
  readonly left: UnmatchedClientItems
  /** The client's own of a thought. */
  readonly ownThought: (thought: Item) => Item | null
  readonly pieces: RestoredPiece[]
  /** Reasoning that waits for what it led to, and whether something of that was left out. */
  thoughts: RestoredPiece[]
  unled: boolean
  /** How many recorded messages there were so far. */
  messages: number
  /** By the turn that was given them. */
  readonly owed: Map<RecordedTurn, RecordedOutput[]>
}

function isMessage(item: Item): item is Message {
  return item.type === 'message'
}

function placesOfSilent({ run, turns }: MatchedSegment): ReadonlyMap<string, number> {
  const marks = new Set(run.marks)
  return new Map(
    turns.flatMap((turn, at) =>
      marks.has(turn.id) && isInvisibleTurn(turn) ? [[turn.id, at] as const] : [],
    ),
  )
}

/** Clients merge reasoning and move it, so that of a run it is all the client's or all recorded. */
function replaceReasoning({ turns, left, pieces }: Work, own: readonly Item[]): void {
  if (own.length === 0) return
  const recorded = turns.flatMap(({ output }) => output.filter(isReasoning))
  const find = createReasoningFinder(recorded)
  for (const thought of own) {
    left.take(thought)
    if (recorded.length === 0) pieces.push(asGiven(thought))
    else if (find(thought) === null) {
      pieces.push({ item: null, note: { did: 'changed', why: 'reasoning-replaced' } })
    }
  }
}

function isReasoning(item: Item): boolean {
  return item.type === 'reasoning'
}

function replayTurn(work: Work, turn: RecordedTurn, at: number): void {
  if (work.silent.has(turn.id)) addWords(work, work.loose.beforeTurn(at, work.messages))
  // What it went on from is in front of all of it.
  else if (turnLacksNewInput(turn) && turn.output.some(isMessage)) {
    addWords(work, work.loose.beforeMessage(work.messages))
  }
  const own = work.owed.get(turn) ?? []
  work.owed.delete(turn)
  for (const { output } of own.toSorted((one, other) => one.place - other.place)) {
    work.pieces.push(createRecalledPiece(output, turn))
  }
  const nth = new Map<string, number>()
  for (const item of turn.output) {
    if (item.type === 'reasoning') {
      if (work.unled) dropThoughts(work)
      work.thoughts.push(thoughtPiece(work, item, turn))
    } else if (isMessage(item)) replayMessage(work, item, at)
    else if (isGatewayToolItem(item)) {
      // Its client has nothing of it, and both ends of the call are here.
      keep(work, work.replaysTools ? createRecalledPiece(item, turn) : FORGOTTEN)
    } else {
      const key = toolCallKey(item, 'call')
      keep(
        work,
        key === null ? hostedPiece(work, item, turn) : callPiece(work, item, key, turn, nth),
      )
    }
  }
  if (work.unled) dropThoughts(work)
  work.pieces.push(...work.thoughts)
  work.thoughts = []
  if (turn === work.openEnd) addWords(work, work.loose.rest())
}

function keep(work: Work, piece: RestoredPiece): void {
  if (piece.item === null) work.unled = work.thoughts.length > 0
  else {
    work.pieces.push(...work.thoughts)
    work.thoughts = []
    work.unled = false
  }
  work.pieces.push(piece)
}

function dropThoughts(work: Work): void {
  for (const _ of work.thoughts) {
    work.pieces.push({ item: null, note: { did: 'dropped', why: 'reasoning-without-follower' } })
  }
  work.thoughts = []
  work.unled = false
}

/** In front of the reasoning that led to what comes next, and not in between. */
function addWords({ pieces }: Work, words: readonly Message[]): void {
  pieces.push(...words.map(edited))
}

function replayMessage(work: Work, item: Message, at: number): void {
  const { aligned } = work
  const number = work.messages
  work.messages += 1
  addWords(work, work.loose.beforeMessage(number))
  const place = aligned === null ? item : (aligned.places[number] ?? null)
  if (place === null) keep(work, { item: null, note: { did: 'dropped', why: 'text-removed' } })
  else if (place !== item) keep(work, edited(place))
  else keep(work, { item, note: work.restored.has(number) ? RESTORED : null })
  const isLast = number === work.recordedMessages - 1
  if (!isLast || work.openEnd === null) addWords(work, work.loose.behindMessage(number, at))
}

function thoughtPiece({ ownThought }: Work, item: Item, turn: RecordedTurn): RestoredPiece {
  const own = ownThought(item)
  return own === null ? createRecalledPiece(item, turn) : { item: own, note: null }
}

function callPiece(
  work: Work,
  item: Item,
  key: string,
  turn: RecordedTurn,
  nth: Map<string, number>,
): RestoredPiece {
  const place = nth.get(key) ?? 0
  nth.set(key, place + 1)
  const answer = work.replaysTools ? work.findOutput(turn, key, place) : null
  const own = work.left.takeCall(key)
  if (own !== null) {
    if (answer !== null && !work.answered.has(own)) owe(work, answer)
    if (isSameCall(item, own)) return { item, note: null }
    return { item: own, note: { did: 'changed', why: 'call-edited' } }
  }
  if (isNonReplayableItem(item)) return NOT_REPLAYED
  if (work.replaysTools && work.strayOutputs.has(key)) return createRecalledPiece(item, turn)
  if (answer === null) return FORGOTTEN
  owe(work, answer)
  return createRecalledPiece(item, turn)
}

function hostedPiece(work: Work, item: Item, turn: RecordedTurn): RestoredPiece {
  const own = work.left.takeHosted(item)
  if (own !== null) return isNonReplayableItem(item) ? asGiven(own) : { item, note: null }
  if (isNonReplayableItem(item)) return NOT_REPLAYED
  if (isStaleCompaction(item, work)) return OF_OTHER_WORDS
  return !work.replaysTools && isHostedCall(item) ? FORGOTTEN : createRecalledPiece(item, turn)
}

function owe({ owed }: Work, answer: RecordedOutput): void {
  const others = owed.get(answer.turn)
  if (others === undefined) owed.set(answer.turn, [answer])
  else others.push(answer)
}

/** A tool that brings its own result. */
function isHostedCall(item: Item): boolean {
  if (item.type !== 'opaque' || callEndOf(item) !== null) return false
  const { type } = item.raw
  return typeof type === 'string' && type.endsWith('_call')
}
