/**
 * Restores the items that a client omits from its list, e.g. reasoning and tool calls, from the
 * recorded turns. A segment whose turn is not certain stays as the client sent it.
 *
 * If nothing changes, the same list object is returned.
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
import { removeMessageMarkers } from './markers/remove-message-markers.ts'
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
  /** True if tool calls and outputs that the client omits are added again. */
  readonly replaysTools: boolean
}

export interface RestoredHistory {
  /** The restored list; the client's list object if nothing changed. */
  readonly items: readonly Item[]
  /** `at` is an index in the new list; for a dropped item, the index where it would be. */
  readonly notes: readonly Note[]
  /** The turn of the last segment, which the next answer continues. */
  readonly parent: RecordedTurn | null
  /** The first turn that answers the latest question, if one was matched. */
  readonly firstTurnOfAnswer: RecordedTurn | null
  /** Index in the client's list of the first item after the last segment. */
  readonly newItemsStart: number
  /** All matched turns in the order of the list. */
  readonly usedTurns: readonly RecordedTurn[]
}

/**
 * Returns the client's list with the omitted items. `chat` holds the segments of `items`;
 * `omittedTurnIds` are stored turns that were not loaded because there are too many.
 */
export function restoreForgottenItems(
  items: readonly Item[],
  chat: SegmentedHistory,
  turns: readonly RecordedTurn[],
  policy: RestoreOptions,
  omittedTurnIds: ReadonlySet<string> = NO_TURN_IDS,
): RestoredHistory {
  const ancestry = buildTurnAncestry(turns)
  const explainMarker: ExplainMarker = (turnId) => {
    if (ancestry.findTurn(turnId) !== null) return 'marker-removed'
    return omittedTurnIds.has(turnId) ? 'beyond-memory' : 'marker-unknown'
  }
  const matches = matchTurnsToSegments(items, chat, ancestry)
  const matchedTurns = matches.turnsBySegment.flat()
  // Excludes continued answers that were extracted from another turn's input: they are not stored
  // as turns.
  const usedTurns = matchedTurns.filter((turn) => ancestry.findTurn(turn.id) === turn)
  const findOutput = indexRecordedOutputs(matchedTurns, ancestry)
  const pairIndexes = usedTurns.length === 0 ? null : findToolCallPairs(items)
  const matchedTurnIds = new Set(matchedTurns.map(({ id }) => id))
  const untrustedTurnIds = new Set([...matches.untrustedTurns].map(({ id }) => id))
  // If other turns were matched with a segment, its markers were never checked, so they count as
  // untrusted.
  const hasUntrustedMarker = ({ markerTurnIds }: Segment, hasTurns: boolean): boolean =>
    markerTurnIds.some(
      (id) =>
        !matchedTurnIds.has(id) &&
        (untrustedTurnIds.has(id) || (hasTurns && ancestry.findTurn(id) !== null)),
    )
  const builder = createItemListBuilder(items)
  for (const [index, segment] of chat.segments.entries()) {
    const segmentTurns = matches.turnsBySegment[index] ?? []
    builder.copyUntil(segment.start)
    if (matches.ambiguousSegments.has(index))
      builder.addNote({ did: 'dropped', why: 'turn-ambiguous' })
    else if (hasUntrustedMarker(segment, segmentTurns.length > 0)) {
      builder.addNote({ did: 'dropped', why: 'marker-doubted' })
    }
    if (segmentTurns.length === 0 || pairIndexes === null) {
      if (segment.markerTurnIds.length > 0)
        builder.replace(removeSegmentMarkers(items, segment, explainMarker), segment.end)
      continue
    }
    const gapEnd = chat.segments[index + 1]?.start ?? items.length
    const { pieces, missingOutputs } = restoreSegment({
      segment,
      clientItems: items.slice(segment.start, segment.end),
      turns: segmentTurns,
      replaysTools: policy.replaysTools,
      findOutput,
      ...findClientOutputs(items, segment, gapEnd, pairIndexes),
    })
    if (pieces !== null)
      builder.replace(addMarkerNotes(pieces, segment, explainMarker), segment.end)
    builder.addMissingOutputs(missingOutputs, segment.end, gapEnd)
  }
  builder.copyUntil(items.length)
  const lastQuestion = items.findLastIndex(isUserMessage)
  return {
    ...builder.finish(),
    parent: matches.turnsBySegment.at(-1)?.at(-1) ?? null,
    firstTurnOfAnswer: findFirstTurnAfter(lastQuestion, chat, matches.turnsBySegment),
    newItemsStart: chat.segments.at(-1)?.end ?? 0,
    usedTurns,
  }
}

const NO_TURN_IDS: ReadonlySet<string> = new Set()

/** Returns the note's reason for a marker that is removed without a restored turn. */
type ExplainMarker = (turnId: string) => 'marker-removed' | 'marker-unknown' | 'beyond-memory'

function findFirstTurnAfter(
  questionIndex: number,
  { segments }: SegmentedHistory,
  turns: readonly (readonly RecordedTurn[])[],
): RecordedTurn | null {
  const index = segments.findIndex(({ start }) => start > questionIndex)
  return index < 0 ? null : (turns.slice(index).flat()[0] ?? null)
}

/**
 * Finds the calls of a segment whose outputs the client sends, and the outputs after the segment
 * whose calls the client omits.
 */
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

/** Returns the client's items without markers. A message with nothing but markers is dropped. */
function removeSegmentMarkers(
  items: readonly Item[],
  segment: Segment,
  explainMarker: ExplainMarker,
): readonly RestoredPiece[] {
  return items.slice(segment.start, segment.end).map((item) => {
    if (item.type !== 'message') return { item, note: null }
    const cleaned = removeMessageMarkers(item)
    if (cleaned === item) return { item, note: null }
    const reasons = listMarkerTurnIds(item).map(explainMarker)
    const why = reasons.find((reason) => reason !== 'marker-removed') ?? 'marker-removed'
    const isEmpty = isEmptyAssistantMessage(cleaned)
    return {
      item: isEmpty ? null : cleaned,
      note: { did: isEmpty ? 'dropped' : 'changed', why },
    }
  })
}

/**
 * Returns the pieces with notes about the segment's markers: one for each reason why a marker's turn
 * was not found; else `marker-removed` at the first message, unless it has another note.
 */
function addMarkerNotes(
  pieces: readonly RestoredPiece[],
  { markerTurnIds }: Segment,
  explainMarker: ExplainMarker,
): readonly RestoredPiece[] {
  if (markerTurnIds.length === 0) return pieces
  const did = 'changed'
  const missingReasons = [...new Set(markerTurnIds)]
    .map(explainMarker)
    .filter((why) => why !== 'marker-removed')
  if (missingReasons.length > 0) {
    const notes = missingReasons.map((why): RestoredPiece => ({ item: null, note: { did, why } }))
    return [...notes, ...pieces]
  }
  const note = { did, why: 'marker-removed' } as const
  const index = pieces.findIndex(({ item }) => item?.type === 'message')
  if (index < 0) return [{ item: null, note }, ...pieces]
  return pieces.map((piece, other) =>
    other === index && piece.note === null ? { ...piece, note } : piece,
  )
}

/** Builds the restored list while it reads the client's list from start to end. */
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
  const replace = (pieces: readonly RestoredPiece[], end: number): void => {
    isChanged = true
    for (const { item, note: entry } of pieces) {
      if (entry !== null) addNote(entry)
      if (item !== null) restoredItems.push(item)
    }
    index = end
  }
  return {
    addNote,
    /** Copies the client's items up to this index. */
    copyUntil,
    /** Writes pieces instead of the client's items up to this index. */
    replace,
    /** Inserts outputs that the client omits between the outputs that it sends in this gap. */
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

/**
 * Groups missing outputs by the index at which they are inserted: after the output that was
 * recorded before them, if the client has it, else at `start`.
 */
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

/**
 * Returns for each missing output the end index of the nearest earlier recorded output that the
 * client has.
 */
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
