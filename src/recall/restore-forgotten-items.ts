/**
 * Gives a client's list its backstory again: the turns that the memory has found take the places of
 * what the client has kept of them. What cannot be known for sure is left as the client sent it.
 *
 * A list in which nothing is to be changed is returned as the very same list.
 */
import type { Item } from '../core/item.ts'
import type { RecordedTurn } from '../core/items/recorded-turn.ts'
import { isUserMessage } from '../core/items/rounds-and-pinned-items.ts'
import { UNPAIRED, findToolCallPairs } from '../core/items/tool-call-pairs.ts'
import type { Note } from '../core/note.ts'
import {
  toolCallKey,
  indexRecordedOutputs,
  type RecordedOutput,
} from './find-recorded-tool-outputs.ts'
import { removeMessageMarkers } from './markers/split-message-and-markers.ts'
import { matchTurnsToSegments } from './matching/match-turns-to-segments.ts'
import { restoreSegment } from './merging/restore-segment.ts'
import { createRecalledPiece, type RestoredPiece } from './merging/restored-piece.ts'
import {
  listMarkerTurnIds,
  isEmptyAssistantMessage,
  type SegmentedHistory,
  type Segment,
} from './split-and-fingerprint-segments.ts'
import { buildTurnAncestry } from './turn-ancestry.ts'

export interface RestoreOptions {
  /** Whether calls and results that the client has forgotten are told again. */
  readonly replaysTools: boolean
}

export interface RestoredHistory {
  /** The very same list if nothing is changed. */
  readonly items: readonly Item[]
  /** `at` is a place in the new list: of what is gone, where it would stand. */
  readonly notes: readonly Note[]
  /** The turn that the newest run belongs to: what the next answer goes on from. */
  readonly parent: RecordedTurn | null
  /** The first turn that answers the newest question, if one is attached. */
  readonly firstTurnOfAnswer: RecordedTurn | null
  /** Where in the client's list what is new since the last run begins. */
  readonly newsFrom: number
  /** Every turn that was attached, in the order of the list. */
  readonly usedTurns: readonly RecordedTurn[]
}

/** `plan` is that of `items`; `beyond` are turns that are not there because they are too many. */
export function restoreForgottenItems(
  items: readonly Item[],
  plan: SegmentedHistory,
  turns: readonly RecordedTurn[],
  policy: RestoreOptions,
  beyond: ReadonlySet<string> = NONE,
): RestoredHistory {
  const kin = buildTurnAncestry(turns)
  const whyGone: WhyGone = (turnId) => {
    if (kin.turn(turnId) !== null) return 'marker-removed'
    return beyond.has(turnId) ? 'beyond-memory' : 'marker-unknown'
  }
  const attached = matchTurnsToSegments(items, plan, kin)
  const told = attached.turns.flat()
  // What a turn itself has of the answer that it continued is no turn of its own.
  const used = told.filter((turn) => kin.turn(turn.id) === turn)
  const findOutput = indexRecordedOutputs(told, kin)
  const partners = used.length === 0 ? null : findToolCallPairs(items)
  const toldIds = new Set(told.map(({ id }) => id))
  const doubted = new Set([...attached.doubted].map(({ id }) => id))
  // Where other turns stand for the words, nobody has asked whether to believe a marker.
  const isDoubted = ({ marks }: Segment, isFound: boolean): boolean =>
    marks.some((id) => !toldIds.has(id) && (doubted.has(id) || (isFound && kin.turn(id) !== null)))
  const list = openList(items)
  for (const [number, run] of plan.runs.entries()) {
    const own = attached.turns[number] ?? []
    list.pass(run.start)
    if (attached.ambiguous.has(number)) list.note({ did: 'dropped', why: 'turn-ambiguous' })
    else if (isDoubted(run, own.length > 0)) {
      list.note({ did: 'dropped', why: 'marker-doubted' })
    }
    if (own.length === 0 || partners === null) {
      if (run.marks.length > 0) list.put(unmarked(items, run, whyGone), run.end)
      continue
    }
    const gapEnd = plan.runs[number + 1]?.start ?? items.length
    const { pieces, owed } = restoreSegment({
      run,
      given: items.slice(run.start, run.end),
      turns: own,
      replaysTools: policy.replaysTools,
      findOutput,
      ...answersIn(items, run, gapEnd, partners),
    })
    if (pieces !== null) list.put(withMarksNoted(pieces, run, whyGone), run.end)
    list.owe(owed, run.end, gapEnd)
  }
  list.pass(items.length)
  return {
    ...list.done(),
    parent: attached.turns.at(-1)?.at(-1) ?? null,
    firstTurnOfAnswer: firstBehind(items.findLastIndex(isUserMessage), plan, attached.turns),
    newsFrom: plan.runs.at(-1)?.end ?? 0,
    usedTurns: used,
  }
}

const NONE: ReadonlySet<string> = new Set()

/** Why a marker is taken out and nothing stands for it. */
type WhyGone = (turnId: string) => 'marker-removed' | 'marker-unknown' | 'beyond-memory'

function firstBehind(
  question: number,
  { runs }: SegmentedHistory,
  turns: readonly (readonly RecordedTurn[])[],
): RecordedTurn | null {
  const place = runs.findIndex(({ start }) => start > question)
  return place < 0 ? null : (turns.slice(place).flat()[0] ?? null)
}

/** What of the calls of a run the client answers itself, behind the run. */
function answersIn(items: readonly Item[], run: Segment, gapEnd: number, partners: Int32Array) {
  const answered = new Set<Item>()
  const strayOutputs = new Set<string>()
  for (let at = run.start; at < run.end; at += 1) {
    const item = items[at]
    if (item !== undefined && partners[at] !== UNPAIRED) answered.add(item)
  }
  for (let at = run.end; at < gapEnd; at += 1) {
    const item = items[at]
    const key = item === undefined || partners[at] !== UNPAIRED ? null : toolCallKey(item, 'output')
    if (key !== null) strayOutputs.add(key)
  }
  return { answered, strayOutputs }
}

/** The client's own items, but for the markers. A message that was nothing else is left out. */
function unmarked(
  items: readonly Item[],
  run: Segment,
  whyGone: WhyGone,
): readonly RestoredPiece[] {
  return items.slice(run.start, run.end).map((item) => {
    if (item.type !== 'message') return { item, note: null }
    const words = removeMessageMarkers(item)
    if (words === item) return { item, note: null }
    const reasons = listMarkerTurnIds(item).map(whyGone)
    const why = reasons.find((reason) => reason !== 'marker-removed') ?? 'marker-removed'
    const isDisconnected = isEmptyAssistantMessage(words)
    return {
      item: isDisconnected ? null : words,
      note: { did: isDisconnected ? 'dropped' : 'changed', why },
    }
  })
}

/** Markers are noted where nothing else is: at the first words that are passed on. */
function withMarksNoted(
  pieces: readonly RestoredPiece[],
  { marks }: Segment,
  whyGone: WhyGone,
): readonly RestoredPiece[] {
  if (marks.length === 0) return pieces
  const did = 'changed'
  const missing = [...new Set(marks)].map(whyGone).filter((why) => why !== 'marker-removed')
  if (missing.length > 0) {
    return [...missing.map((why): RestoredPiece => ({ item: null, note: { did, why } })), ...pieces]
  }
  const note = { did, why: 'marker-removed' } as const
  const at = pieces.findIndex(({ item }) => item?.type === 'message')
  if (at < 0) return [{ item: null, note }, ...pieces]
  return pieces.map((piece, place) =>
    place === at && piece.note === null ? { ...piece, note } : piece,
  )
}

/** The list as it is being made, beside the client's, which it goes along. */
function openList(items: readonly Item[]) {
  const made: Item[] = []
  const notes: Note[] = []
  let at = 0
  let isChanged = false
  const note = (what: Omit<Note, 'at'>): void => void notes.push({ ...what, at: made.length })
  const pass = (end: number): void => {
    for (; at < end; at += 1) {
      const item = items[at]
      if (item !== undefined) made.push(item)
    }
  }
  const put = (pieces: readonly RestoredPiece[], end: number): void => {
    isChanged = true
    for (const { item, note: what } of pieces) {
      if (what !== null) note(what)
      if (item !== null) made.push(item)
    }
    at = end
  }
  return {
    note,
    /** The client's items up to this place, as they are. */
    pass,
    /** These instead of the client's items up to this place. */
    put,
    /** Outputs that the client forgot, among those that it has in this gap. */
    owe(owed: readonly RecordedOutput[], start: number, end: number): void {
      pass(start)
      if (owed.length === 0) return
      for (const [before, outputs] of placesOf(owed, items, start, end)) {
        pass(before)
        put(
          outputs.map(({ output, turn }) => createRecalledPiece(output, turn)),
          before,
        )
      }
      pass(end)
    },
    done: () => ({ items: isChanged ? made : items, notes }),
  }
}

/** Each behind the output that was recorded before it, if the client has that one. */
function placesOf(
  owed: readonly RecordedOutput[],
  items: readonly Item[],
  start: number,
  end: number,
): readonly (readonly [number, readonly RecordedOutput[]])[] {
  const behind = new Map<string, number>()
  for (let at = start; at < end; at += 1) {
    const item = items[at]
    const key = item === undefined ? null : toolCallKey(item, 'output')
    if (key !== null) behind.set(key, at + 1)
  }
  const places = new Map<number, RecordedOutput[]>()
  const sorted = owed.toSorted((one, other) => one.place - other.place)
  const neighbours = behind.size === 0 ? null : neighboursOf(sorted, behind)
  for (const one of sorted) {
    const place = neighbours?.get(one) ?? start
    const there = places.get(place)
    if (there === undefined) places.set(place, [one])
    else there.push(one)
  }
  return [...places].toSorted(([one], [other]) => one - other)
}

/** Where the nearest output in front of each ends, if the client has one of those. */
function neighboursOf(
  sorted: readonly RecordedOutput[],
  behind: ReadonlyMap<string, number>,
): ReadonlyMap<RecordedOutput, number> {
  const neighbours = new Map<RecordedOutput, number>()
  for (const [{ input }, own] of Map.groupBy(sorted, ({ turn }) => turn)) {
    let at = 0
    let last: number | undefined
    for (const one of own) {
      for (; at < one.place; at += 1) {
        const item = input[at]
        last = behind.get(item === undefined ? '' : (toolCallKey(item, 'output') ?? '')) ?? last
      }
      if (last !== undefined) neighbours.set(one, last)
    }
  }
  return neighbours
}
