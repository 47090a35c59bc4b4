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
import { appendToGroup } from './append-to-group.ts'

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
  readonly newItemsStart: number
  /** Every turn that was attached, in the order of the list. */
  readonly usedTurns: readonly RecordedTurn[]
}

/** `plan` is that of `items`; `beyond` are turns that are not there because they are too many. */
export function restoreForgottenItems(
  items: readonly Item[],
  segmentedHistory: SegmentedHistory,
  turns: readonly RecordedTurn[],
  policy: RestoreOptions,
  omittedTurnIds: ReadonlySet<string> = NO_TURN_IDS,
): RestoredHistory {
  const ancestry = buildTurnAncestry(turns)
  const explainRemovedMarker: ExplainRemovedMarker = (turnId) => {
    if (ancestry.findTurn(turnId) !== null) return 'marker-removed'
    return omittedTurnIds.has(turnId) ? 'beyond-memory' : 'marker-unknown'
  }
  const matches = matchTurnsToSegments(items, segmentedHistory, ancestry)
  const matchedTurns = matches.turnsBySegment.flat()
  // What a turn itself has of the answer that it continued is no turn of its own.
  const usedTurns = matchedTurns.filter((turn) => ancestry.findTurn(turn.id) === turn)
  const findOutput = indexRecordedOutputs(matchedTurns, ancestry)
  const pairIndexes = usedTurns.length === 0 ? null : findToolCallPairs(items)
  const matchedTurnIds = new Set(matchedTurns.map(({ id }) => id))
  const untrustedTurnIds = new Set([...matches.untrustedTurns].map(({ id }) => id))
  // Where other turns stand for the words, nobody has asked whether to believe a marker.
  const hasUntrustedMarker = ({ markerTurnIds }: Segment, hasTurns: boolean): boolean =>
    markerTurnIds.some(
      (id) =>
        !matchedTurnIds.has(id) &&
        (untrustedTurnIds.has(id) || (hasTurns && ancestry.findTurn(id) !== null)),
    )
  const builder = createItemListBuilder(items)
  for (const [segmentIndex, segment] of segmentedHistory.segments.entries()) {
    const segmentTurns = matches.turnsBySegment[segmentIndex] ?? []
    builder.copyUntil(segment.start)
    if (matches.ambiguousSegments.has(segmentIndex))
      builder.addNote({ did: 'dropped', why: 'turn-ambiguous' })
    else if (hasUntrustedMarker(segment, segmentTurns.length > 0)) {
      builder.addNote({ did: 'dropped', why: 'marker-doubted' })
    }
    if (segmentTurns.length === 0 || pairIndexes === null) {
      if (segment.markerTurnIds.length > 0)
        builder.replace(removeSegmentMarkers(items, segment, explainRemovedMarker), segment.end)
      continue
    }
    const gapEnd = segmentedHistory.segments[segmentIndex + 1]?.start ?? items.length
    const { pieces, missingOutputs } = restoreSegment({
      segment,
      clientItems: items.slice(segment.start, segment.end),
      turns: segmentTurns,
      replaysTools: policy.replaysTools,
      findOutput,
      ...findClientOutputs(items, segment, gapEnd, pairIndexes),
    })
    if (pieces !== null)
      builder.replace(addMarkerNotes(pieces, segment, explainRemovedMarker), segment.end)
    builder.addMissingOutputs(missingOutputs, segment.end, gapEnd)
  }
  builder.copyUntil(items.length)
  return {
    ...builder.finish(),
    parent: matches.turnsBySegment.at(-1)?.at(-1) ?? null,
    firstTurnOfAnswer: findFirstTurnAfter(
      items.findLastIndex(isUserMessage),
      segmentedHistory,
      matches.turnsBySegment,
    ),
    newItemsStart: segmentedHistory.segments.at(-1)?.end ?? 0,
    usedTurns,
  }
}

const NO_TURN_IDS: ReadonlySet<string> = new Set()

/** Why a marker is taken out and nothing stands for it. */
type ExplainRemovedMarker = (
  turnId: string,
) => 'marker-removed' | 'marker-unknown' | 'beyond-memory'

function findFirstTurnAfter(
  questionIndex: number,
  { segments }: SegmentedHistory,
  turns: readonly (readonly RecordedTurn[])[],
): RecordedTurn | null {
  const index = segments.findIndex(({ start }) => start > questionIndex)
  return index < 0 ? null : (turns.slice(index).flat()[0] ?? null)
}

/** What of the calls of a run the client answers itself, behind the run. */
function findClientOutputs(
  items: readonly Item[],
  segment: Segment,
  gapEnd: number,
  pairIndexes: Int32Array,
) {
  const answeredCalls = new Set<Item>()
  const unpairedOutputKeys = new Set<string>()
  for (let index = segment.start; index < segment.end; index += 1) {
    const item = items[index]
    if (item !== undefined && pairIndexes[index] !== UNPAIRED) answeredCalls.add(item)
  }
  for (let index = segment.end; index < gapEnd; index += 1) {
    const item = items[index]
    const key =
      item === undefined || pairIndexes[index] !== UNPAIRED ? null : toolCallKey(item, 'output')
    if (key !== null) unpairedOutputKeys.add(key)
  }
  return { answeredCalls, unpairedOutputKeys }
}

/** The client's own items, but for the markers. A message that was nothing else is left out. */
function removeSegmentMarkers(
  items: readonly Item[],
  segment: Segment,
  explainRemovedMarker: ExplainRemovedMarker,
): readonly RestoredPiece[] {
  return items.slice(segment.start, segment.end).map((item) => {
    if (item.type !== 'message') return { item, note: null }
    const cleanedMessage = removeMessageMarkers(item)
    if (cleanedMessage === item) return { item, note: null }
    const reasons = listMarkerTurnIds(item).map(explainRemovedMarker)
    const why = reasons.find((reason) => reason !== 'marker-removed') ?? 'marker-removed'
    const isEmpty = isEmptyAssistantMessage(cleanedMessage)
    return {
      item: isEmpty ? null : cleanedMessage,
      note: { did: isEmpty ? 'dropped' : 'changed', why },
    }
  })
}

/** Markers are noted where nothing else is: at the first words that are passed on. */
function addMarkerNotes(
  restoredPieces: readonly RestoredPiece[],
  { markerTurnIds }: Segment,
  explainRemovedMarker: ExplainRemovedMarker,
): readonly RestoredPiece[] {
  if (markerTurnIds.length === 0) return restoredPieces
  const did = 'changed'
  const missingReasons = [...new Set(markerTurnIds)]
    .map(explainRemovedMarker)
    .filter((why) => why !== 'marker-removed')
  if (missingReasons.length > 0) {
    return [
      ...missingReasons.map((why): RestoredPiece => ({ item: null, note: { did, why } })),
      ...restoredPieces,
    ]
  }
  const note = { did, why: 'marker-removed' } as const
  const index = restoredPieces.findIndex(({ item }) => item?.type === 'message')
  if (index < 0) return [{ item: null, note }, ...restoredPieces]
  return restoredPieces.map((piece, other) =>
    other === index && piece.note === null ? { ...piece, note } : piece,
  )
}

/** The list as it is being made, beside the client's, which it goes along. */
function createItemListBuilder(items: readonly Item[]) {
  const restoredItems: Item[] = []
  const notes: Note[] = []
  let index = 0
  let isChanged = false
  const addNote = (entry: Omit<Note, 'at'>): void =>
    void notes.push({ ...entry, at: restoredItems.length })
  const copyUntil = (end: number): void => {
    for (; index < end; index += 1) {
      const item = items[index]
      if (item !== undefined) restoredItems.push(item)
    }
  }
  const replace = (restoredPieces: readonly RestoredPiece[], end: number): void => {
    isChanged = true
    for (const { item, note: entry } of restoredPieces) {
      if (entry !== null) addNote(entry)
      if (item !== null) restoredItems.push(item)
    }
    index = end
  }
  return {
    addNote,
    /** The client's items up to this place, as they are. */
    copyUntil,
    /** These instead of the client's items up to this place. */
    replace,
    /** Outputs that the client forgot, among those that it has in this gap. */
    addMissingOutputs(missingOutputs: readonly RecordedOutput[], start: number, end: number): void {
      copyUntil(start)
      if (missingOutputs.length === 0) return
      for (const [insertIndex, outputs] of groupByInsertIndex(missingOutputs, items, start, end)) {
        copyUntil(insertIndex)
        replace(
          outputs.map(({ output, turn }) => createRecalledPiece(output, turn)),
          insertIndex,
        )
      }
      copyUntil(end)
    },
    finish: () => ({ items: isChanged ? restoredItems : items, notes }),
  }
}

/** Each behind the output that was recorded before it, if the client has that one. */
function groupByInsertIndex(
  missingOutputs: readonly RecordedOutput[],
  items: readonly Item[],
  start: number,
  end: number,
): readonly (readonly [number, readonly RecordedOutput[]])[] {
  const outputEnds = new Map<string, number>()
  for (let index = start; index < end; index += 1) {
    const item = items[index]
    const key = item === undefined ? null : toolCallKey(item, 'output')
    if (key !== null) outputEnds.set(key, index + 1)
  }
  const outputsByIndex = new Map<number, RecordedOutput[]>()
  const sorted = missingOutputs.toSorted((a, b) => a.inputIndex - b.inputIndex)
  const neighborEnds = outputEnds.size === 0 ? null : findNeighborEnds(sorted, outputEnds)
  for (const missingOutput of sorted) {
    const index = neighborEnds?.get(missingOutput) ?? start
    appendToGroup(outputsByIndex, index, missingOutput)
  }
  return [...outputsByIndex].toSorted(([a], [b]) => a - b)
}

/** Where the nearest output in front of each ends, if the client has one of those. */
function findNeighborEnds(
  sorted: readonly RecordedOutput[],
  outputEnds: ReadonlyMap<string, number>,
): ReadonlyMap<RecordedOutput, number> {
  const neighborEnds = new Map<RecordedOutput, number>()
  for (const [{ input }, turnOutputs] of Map.groupBy(sorted, ({ turn }) => turn)) {
    let index = 0
    let lastEnd: number | undefined
    for (const missingOutput of turnOutputs) {
      for (; index < missingOutput.inputIndex; index += 1) {
        const item = input[index]
        lastEnd =
          outputEnds.get(item === undefined ? '' : (toolCallKey(item, 'output') ?? '')) ?? lastEnd
      }
      if (lastEnd !== undefined) neighborEnds.set(missingOutput, lastEnd)
    }
  }
  return neighborEnds
}
