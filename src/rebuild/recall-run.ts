/**
 * What a run of a client's list becomes when its turns are known: the recorded items in their
 * recorded order, the very objects, with what the client has edited.
 *
 * Whatever is left out takes along the reasoning that led to nothing else, because reasoning is
 * refused without what followed it.
 */
import type { Item, Message } from '../conversation/item.ts'
import type { Note } from '../conversation/note.ts'
import { callEndOf } from '../conversation/pairs.ts'
import type { RememberedTurn } from '../conversation/remembered.ts'
import { alignWords, type Aligned } from './align-words.ts'
import { saidIn, settled } from './compact-words.ts'
import { endKey, type FindOutput, type OutputAtHand } from './outputs-at-hand.ts'
import { isOfModel, saysNothing, type Run } from './plan-recall.ts'
import { isSameCall, isSameHosted, isSameReasoning, saysTheSame } from './same-item.ts'
import { withoutDetails } from './without-details.ts'
import { withoutMarks } from './without-marks.ts'

export interface KnownRun {
  readonly run: Run
  /** What the client sends of it. */
  readonly given: readonly Item[]
  /** At least one. */
  readonly turns: readonly RememberedTurn[]
  readonly replaysTools: boolean
  readonly findOutput: FindOutput
  /** The client's calls of which it sends the output, too. */
  readonly answered: ReadonlySet<Item>
  /** The outputs behind the run for which the client has no call, by the key of the call. */
  readonly strayOutputs: ReadonlySet<string>
}

/** An item, or the place of one that is left out, and what is to be noted of it. */
export interface Piece {
  readonly item: Item | null
  readonly note: Omit<Note, 'at'> | null
}

export interface RecalledRun {
  /** `null` if the client's own items say all there is to say. */
  readonly pieces: readonly Piece[] | null
  /** Outputs that the client forgot, and that belong behind the run. */
  readonly owed: readonly OutputAtHand[]
}

export function recallRun(known: KnownRun): RecalledRun {
  const { given, turns } = known
  const spoken = given.filter((item) => !saysNothing(item))
  const recorded = turns.flatMap((turn) => turn.output)
  const messages = recorded.filter(isMessage)
  const aligned = isUnedited(known) ? null : alignWords(messages, spoken.flatMap(wordsGiven))
  const work: Work = {
    ...known,
    aligned,
    left: new Set(spoken.filter((item) => !isMessage(item))),
    ownThoughts: spoken.filter(isReasoning),
    pieces: [],
    thoughts: [],
    unled: false,
    messages: 0,
    owed: [],
  }
  replaceReasoning(work)
  if (messages.length === 0) addWords(work, aligned?.before.get(0))
  for (const turn of turns) replayTurn(work, turn)
  for (const item of work.left) work.pieces.push(asGiven(item))
  const items = work.pieces.flatMap(({ item }) => item ?? [])
  const isSame =
    items.length === spoken.length &&
    items.every((item, at) => saysTheSame(item, spoken[at] ?? item))
  return { pieces: isSame ? null : work.pieces, owed: work.owed }
}

interface Work extends KnownRun {
  /** `null` if the words are as they were. */
  readonly aligned: Aligned | null
  /** What of the client's is not in its place yet, messages aside. */
  readonly left: Set<Item>
  readonly ownThoughts: readonly Item[]
  readonly pieces: Piece[]
  /** Reasoning that waits for what it led to, and whether something of that was left out. */
  thoughts: Piece[]
  unled: boolean
  /** How many recorded messages there were so far. */
  messages: number
  owed: readonly OutputAtHand[]
}

function isMessage(item: Item): item is Message {
  return item.type === 'message'
}

function wordsGiven(item: Item): readonly Message[] {
  if (!isMessage(item)) return []
  const words = withoutMarks(item, withoutDetails)
  return saysNothing(words) ? [] : [words]
}

/**
 * A fingerprint stands for the words as the client was shown them, and they need not be the recorded
 * ones. But that of an answer that went on says nothing of what it went on from.
 */
function isUnedited({ run, turns }: KnownRun): boolean {
  const [first, ...others] = turns
  if (first !== undefined && others.length === 0 && first.fingerprint === run.fingerprint) {
    const before = first.input.at(-1)
    const wentOn = before === undefined || isOfModel(before)
    if (run.fingerprint !== null && !wentOn) return true
  }
  return saidIn(turns) === settled(run.words)
}

/** Clients merge reasoning and move it, so that of a run it is all the client's or all recorded. */
function replaceReasoning({ turns, ownThoughts, left, pieces }: Work): void {
  if (ownThoughts.length === 0) return
  const recorded = turns.flatMap(({ output }) => output.filter(isReasoning))
  for (const thought of ownThoughts) {
    left.delete(thought)
    if (recorded.length === 0) pieces.push(asGiven(thought))
    else if (!recorded.some((item) => isKnownAs(item, thought))) {
      pieces.push({ item: null, note: { did: 'changed', why: 'reasoning-replaced' } })
    }
  }
}

function isReasoning(item: Item): boolean {
  return item.type === 'reasoning'
}

function isKnownAs(recorded: Item, given: Item): boolean {
  return recorded === given || isSameReasoning(recorded, given)
}

function replayTurn(work: Work, turn: RememberedTurn): void {
  const own = work.owed.filter((owed) => owed.turn === turn)
  work.owed = work.owed.filter((owed) => owed.turn !== turn)
  for (const { output } of own.toSorted((one, other) => one.place - other.place)) {
    work.pieces.push(recalled(output, turn))
  }
  const nth = new Map<string, number>()
  for (const item of turn.output) {
    if (item.type === 'reasoning') {
      if (work.unled) dropThoughts(work)
      work.thoughts.push(thoughtPiece(work, item, turn))
    } else if (isMessage(item)) replayMessage(work, item)
    else {
      const key = endKey(item, 'call')
      keep(
        work,
        key === null ? hostedPiece(work, item, turn) : callPiece(work, item, key, turn, nth),
      )
    }
  }
  if (work.unled) dropThoughts(work)
  work.pieces.push(...work.thoughts)
  work.thoughts = []
}

function keep(work: Work, piece: Piece): void {
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
function addWords({ pieces }: Work, words: readonly Message[] = []): void {
  pieces.push(...words.map(edited))
}

function replayMessage(work: Work, item: Message): void {
  const { aligned } = work
  const number = work.messages
  work.messages += 1
  addWords(work, aligned?.before.get(number))
  const place = aligned === null ? item : (aligned.places[number] ?? null)
  if (place === null) keep(work, { item: null, note: { did: 'dropped', why: 'text-removed' } })
  else keep(work, place === item ? { item, note: null } : edited(place))
  addWords(work, aligned?.behind.get(number))
}

function edited(item: Message): Piece {
  return { item, note: { did: 'changed', why: 'text-edited' } }
}

function thoughtPiece({ ownThoughts }: Work, item: Item, turn: RememberedTurn): Piece {
  const own = ownThoughts.find((one) => isKnownAs(item, one))
  return own === undefined ? recalled(item, turn) : { item: own, note: null }
}

function callPiece(
  work: Work,
  item: Item,
  key: string,
  turn: RememberedTurn,
  nth: Map<string, number>,
): Piece {
  const place = nth.get(key) ?? 0
  nth.set(key, place + 1)
  const answer = work.replaysTools ? work.findOutput(turn, key, place) : null
  const own = firstLeft(work, (one) => endKey(one, 'call') === key)
  if (own !== null) {
    if (answer !== null && !work.answered.has(own)) work.owed = [...work.owed, answer]
    if (isSameCall(item, own)) return { item, note: null }
    return { item: own, note: { did: 'changed', why: 'call-edited' } }
  }
  if (isNeverReplayed(item)) return NOT_REPLAYED
  if (work.replaysTools && work.strayOutputs.has(key)) return recalled(item, turn)
  if (answer === null) return FORGOTTEN
  work.owed = [...work.owed, answer]
  return recalled(item, turn)
}

function hostedPiece(work: Work, item: Item, turn: RememberedTurn): Piece {
  const own = firstLeft(work, (one) => isSameHosted(item, one))
  if (own !== null) return isNeverReplayed(item) ? asGiven(own) : { item, note: null }
  if (isNeverReplayed(item)) return NOT_REPLAYED
  return !work.replaysTools && isHostedCall(item) ? FORGOTTEN : recalled(item, turn)
}

const NOT_REPLAYED: Piece = { item: null, note: { did: 'dropped', why: 'not-replayable' } }
const FORGOTTEN: Piece = { item: null, note: { did: 'dropped', why: 'call-forgotten' } }

/** Takes it from what is left. */
function firstLeft({ left }: Work, matches: (item: Item) => boolean): Item | null {
  for (const item of left) {
    if (!matches(item)) continue
    left.delete(item)
    return item
  }
  return null
}

function isNeverReplayed(item: Item): boolean {
  return item.type === 'opaque' && NEVER_REPLAYED.has(item.raw['type'])
}

const NEVER_REPLAYED: ReadonlySet<unknown> = new Set([
  'image_generation_call',
  'local_shell_call',
  'openrouter:image_generation',
  'openrouter:web_search',
  'openrouter:web_fetch',
  'openrouter:datetime',
])

/** A tool that brings its own result. */
function isHostedCall(item: Item): boolean {
  if (item.type !== 'opaque' || callEndOf(item) !== null) return false
  const { type } = item.raw
  return typeof type === 'string' && type.endsWith('_call')
}

function asGiven(item: Item): Piece {
  return { item, note: null }
}

/** What the client did not send. */
export function recalled(item: Item, turn: RememberedTurn): Piece {
  return { item, note: { did: 'added', why: 'recalled', detail: `Recorded in turn ${turn.id}.` } }
}
