/**
 * Restores the items that a client omits when it sends a conversation again, e.g. reasoning and
 * tool calls. They come from the stored turns. If it is not certain which turn generated an answer,
 * the answer stays as the client sent it, without its markers (hidden texts that name turns).
 *
 * If nothing changes, the client's list object is returned.
 */
import type { Item } from '../core/item.ts'
import type { RecordedTurn } from '../core/items/recorded-turn.ts'
import { isUserMessage } from '../core/items/rounds-and-pinned-items.ts'
import { UNPAIRED, findToolCallPairs } from '../core/items/tool-call-pairs.ts'
import type { Note } from '../core/note.ts'
import {
  readToolCallKey,
  indexRecordedOutputs,
  type RecordedOutput,
} from './find-recorded-tool-outputs.ts'
import { matchTurnsToSegments } from './matching/match-turns-to-segments.ts'
import { groupByInsertIndex } from './merging/place-missing-outputs.ts'
import { removeMessageMarkers } from './merging/extract-client-text.ts'
import { NO_DELETIONS, type DeletionRule } from './merging/find-deleted-items.ts'
import { restoreSegment } from './merging/restore-segment.ts'
import { createRecalledPiece, type RestoredPiece } from './merging/restore-state.ts'
import {
  listMarkerTurnIds,
  isEmptyAssistantMessage,
  type SegmentedHistory,
  type Segment,
} from './split-and-fingerprint-segments.ts'
import { buildTurnAncestry } from './turn-ancestry.ts'

export interface RestoreOptions {
  /** True if the context policy restores tool calls and outputs that the client omits. */
  readonly replaysTools: boolean
  /** Which missing items the user has deleted; none by default. */
  readonly deletionRule?: DeletionRule
}

export interface RestoredHistory {
  /** The restored list; the client's list object if nothing changed. */
  readonly items: readonly Item[]
  /**
   * Notes on all changes. `at` is an index in the restored list; for a dropped item, the index that
   * it would have.
   */
  readonly notes: readonly Note[]
  /**
   * The stored turn that generated the last answer in the client's list, i.e. the parent of the
   * next turn; `null` if it was not found.
   */
  readonly parent: RecordedTurn | null
  /** The first turn that answers the latest user message; `null` if none was found. */
  readonly firstTurnOfAnswer: RecordedTurn | null
  /** Index in the client's list of the first item after its last answer; 0 if it has no answer. */
  readonly newItemsStart: number
  /** All stored turns that were matched with answers in the client's list, in its order. */
  readonly usedTurns: readonly RecordedTurn[]
}

/**
 * Returns the client's list with the items that it omits. `chat` is the result of
 * `splitIntoSegments(items)`, and `turns` are the stored turns that may belong to it.
 * `omittedTurnIds` are ids of stored turns that were not loaded, because there are too many.
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
  // A continued answer may have been extracted from a turn's input. It is left out here, because it
  // is not a stored turn.
  const usedTurns = matchedTurns.filter((turn) => ancestry.findTurn(turn.id) === turn)
  const findOutput = indexRecordedOutputs(matchedTurns, ancestry)
  const pairIndexes = usedTurns.length === 0 ? null : findToolCallPairs(items)
  const matchedTurnIds = new Set(matchedTurns.map(({ id }) => id))
  // If a segment has turns, a marker in it that names any other loaded turn counts as untrusted,
  // unless that turn was matched with another segment.
  const hasUntrustedMarker = ({ markerTurnIds }: Segment, hasTurns: boolean): boolean =>
    markerTurnIds.some((id) => {
      const turn = ancestry.findTurn(id)
      if (turn === null || matchedTurnIds.has(id)) return false
      return hasTurns || matches.doubtedTurns.has(turn)
    })
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
      if (listTextMarkers(items, segment).length > 0)
        builder.replace(removeSegmentMarkers(items, segment, explainMarker), segment.end)
      continue
    }
    const gapEnd = chat.segments[index + 1]?.start ?? items.length
    const { pieces, missingOutputs } = restoreSegment({
      segment,
      clientItems: items.slice(segment.start, segment.end),
      turns: segmentTurns,
      replaysTools: policy.replaysTools,
      deletionRule: policy.deletionRule ?? NO_DELETIONS,
      findOutput,
      ...findClientOutputs(items, segment, gapEnd, pairIndexes),
    })
    if (pieces !== null)
      builder.replace(
        addMarkerNotes(pieces, listTextMarkers(items, segment), explainMarker),
        segment.end,
      )
    builder.addMissingOutputs(missingOutputs, segment.end, gapEnd)
  }
  builder.copyUntil(items.length)
  const lastQuestion = items.findLastIndex(isUserMessage)
  const turnsOfAnswer = matches.turnsBySegment.flatMap((segmentTurns, index) =>
    (chat.segments[index]?.start ?? 0) > lastQuestion ? segmentTurns : [],
  )
  return {
    ...builder.finish(),
    parent: matches.turnsBySegment.at(-1)?.at(-1) ?? null,
    firstTurnOfAnswer: turnsOfAnswer[0] ?? null,
    newItemsStart: chat.segments.at(-1)?.end ?? 0,
    usedTurns,
  }
}

const NO_TURN_IDS: ReadonlySet<string> = new Set()

/**
 * Returns the reason for the note on a removed marker: its turn was loaded (`marker-removed`), was
 * not loaded because there are too many (`beyond-memory`), or is not stored (`marker-unknown`).
 */
type ExplainMarker = (turnId: string) => 'marker-removed' | 'marker-unknown' | 'beyond-memory'

/**
 * Finds which halves of tool calls the client sends. `answeredCalls` are the segment's calls whose
 * outputs it sends, too. `unpairedOutputKeys` are the keys of the outputs before the next segment
 * (before `gapEnd`) whose calls it omits.
 */
function findClientOutputs(
  items: readonly Item[],
  segment: Segment,
  gapEnd: number,
  pairIndexes: Int32Array,
) {
  const answeredCalls = items
    .slice(segment.start, segment.end)
    .filter((_, offset) => pairIndexes[segment.start + offset] !== UNPAIRED)
  const unpairedOutputKeys = items
    .slice(segment.end, gapEnd)
    .filter((_, offset) => pairIndexes[segment.end + offset] === UNPAIRED)
    .flatMap((item) => readToolCallKey(item, 'output') ?? [])
  return {
    answeredCalls: new Set(answeredCalls),
    unpairedOutputKeys: new Set(unpairedOutputKeys),
  }
}

/** Lists the ids of the turns that markers in the segment's text name. */
function listTextMarkers(items: readonly Item[], { start, end }: Segment): readonly string[] {
  return items
    .slice(start, end)
    .flatMap((item) => (item.type === 'message' ? listMarkerTurnIds(item) : []))
}

/** Removes the markers of a segment without turns. Drops messages that have only markers. */
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
 * Adds notes about an answer segment's markers: one note for each reason why the turn of a marker
 * was not loaded. If all their turns were loaded, the first message gets the note `marker-removed`,
 * unless it has another note already.
 */
function addMarkerNotes(
  pieces: readonly RestoredPiece[],
  markerTurnIds: readonly string[],
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

/**
 * Returns functions that copy or replace the client's items, from the start of its list to the end.
 */
function createItemListBuilder(items: readonly Item[]) {
  const restoredItems: Item[] = []
  const notes: Note[] = []
  let index = 0
  let isChanged = false
  const addNote = (entry: Omit<Note, 'at'>): void =>
    void notes.push({ ...entry, at: restoredItems.length })
  const copyUntil = (end: number): void => {
    for (const item of items.slice(index, end)) restoredItems.push(item)
    index = Math.max(index, end)
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
    /** Copies the client's next items up to, but not including, index `end` of its list. */
    copyUntil,
    /** Adds restored pieces instead of the client's next items before index `end` of its list. */
    replace,
    /**
     * Inserts the tool outputs that the client omits among its own outputs from index `start` up
     * to, but not including, `end`.
     */
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
