/**
 * Matches the answer segments (consecutive model-made items) of a client's list with stored turns.
 * A turn is assigned to at most one segment. The client's ids of its messages come first
 * (`assign-turns-by-message.ts`). The rule for all other segments, in this order:
 *
 * 1. A segment is the turn that has its fingerprint, which covers the segment and everything before
 *    it. Of several such turns, an ancestor of a later segment's turn is taken, then the one that a
 *    reference names, then a descendant of an earlier segment's turn.
 * 2. It is the turns that its references (markers) name if they stand nowhere else in the list, are in
 *    their recorded order, and have the segment's text. If the text was edited, they must be the only
 *    turns that were asked there (`assign-turns-by-references.ts`).
 * 3. It is the turn that made one of its tool calls, if only one can have made it
 *    (`assign-turns-by-tool-calls.ts`).
 * 4. Otherwise, it gets no turn, because restoring items of another answer would be worse than
 *    restoring none.
 *
 * At the end, a segment with turns also gets the turns of the same answer between and before them.
 */
import { cachePerObject } from '../../core/caching/cache-per-object.ts'
import type { Item } from '../../core/item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { readToolCallIdentity } from '../../core/items/tool-call-pairs.ts'
import type { SegmentedHistory, Segment } from '../split-and-fingerprint-segments.ts'
import { normalizeTurnText, removeEmptyFences } from '../text/normalize-text.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import { mayAnswerOneOf } from './compare-questions.ts'
import { assignTurnsByMessage } from './assign-turns-by-message.ts'
import { assignTurnsByToolCalls } from './assign-turns-by-tool-calls.ts'
import { findContinuedTurns, findEndOfAnswer } from './find-continued-turns.ts'
import {
  assignTurnsByPosition,
  assignTurnsByText,
  collectDoubtedTurns,
} from './assign-turns-by-references.ts'
import {
  type TurnMatches,
  type MatchState,
  assignTurn,
  findMarkedTurns,
  getOnlyTurn,
  hasFingerprintOfOtherSegment,
} from './match-state.ts'
import { hasNewQuestion } from './classify-turn-input.ts'

export function matchTurnsToSegments(
  items: readonly Item[],
  segmentedHistory: SegmentedHistory,
  ancestry: TurnAncestry,
): TurnMatches {
  const { segments, lookupKeys, messages = [] } = segmentedHistory
  const state: MatchState = {
    items,
    segments,
    ancestry,
    turnsBySegment: segments.map(() => []),
    candidatesBySegment: segments.map(() => []),
    assignedTurns: new Set(),
    ambiguousSegments: new Set(),
    doubtedTurns: new Set(),
    markerTurnIds: new Set(lookupKeys.turnIds),
    getTurnText: cachePerObject((turn: RecordedTurn) => normalizeTurnText([turn])),
    segmentByFingerprint: new Map(segments.map(({ fingerprint }, index) => [fingerprint, index])),
  }
  if (ancestry.allTurns.length > 0) {
    assignTurnsByMessage(state, messages)
    assignByFingerprint(state)
    assignTurnsByText(state, true)
    assignTurnsByToolCalls(state)
    assignTurnsByPosition(state)
    assignTurnsByText(state, false)
    collectDoubtedTurns(state)
    // Called a second time, because turns that were assigned by markers or calls may be ancestors
    // of one of several turns with the same fingerprint.
    assignDescendants(state)
    for (const index of segments.keys()) addContinuedTurns(state, index)
  }
  return state
}

/**
 * Assigns to each answer segment the stored turn that has its fingerprint. The last segment comes
 * first: if several turns have the same fingerprint, an ancestor of a later segment's turn is
 * preferred.
 */
function assignByFingerprint(state: MatchState): void {
  const { segments, ancestry, candidatesBySegment } = state
  const turnsByFingerprint = Map.groupBy(ancestry.allTurns, ({ fingerprint }) => fingerprint)
  let laterTurn: RecordedTurn | null = null
  for (const [index, segment] of [...segments.entries()].toReversed()) {
    const assigned = state.turnsBySegment[index]?.[0]
    if (assigned !== undefined) {
      laterTurn = assigned
      continue
    }
    const sameFingerprint = (turnsByFingerprint.get(segment.fingerprint) ?? []).filter(
      (turn) => !state.assignedTurns.has(turn),
    )
    if (segment.fingerprint === null || sameFingerprint.length === 0) continue
    const candidates = dropCoincidentalMatches(state, sameFingerprint, segment, index)
    candidatesBySegment[index] = candidates
    if (candidates.length === 0) continue
    const markedTurns = candidates.filter(({ id }) => segment.markerTurnIds.includes(id))
    const turn: RecordedTurn | null =
      getOnlyTurn(candidates) ??
      ancestry.findNearestAncestor(laterTurn, candidates) ??
      getOnlyTurn(markedTurns) ??
      getOnlyTurn(candidates.filter(({ id }) => state.markerTurnIds.has(id))) ??
      // Turns that continue an answer without text of their own have its fingerprint, too. If no
      // marker names them, only the first turn of the answer is certain to be in the segment.
      (markedTurns.length > 0
        ? findEndOfAnswer(markedTurns, 'last', ancestry)
        : findEndOfAnswer(candidates, 'first', ancestry))
    if (turn === null) {
      state.ambiguousSegments.add(index)
      continue
    }
    assignTurn(state, index, turn)
    laterTurn = turn
  }
  assignDescendants(state)
}

/**
 * Decides between several turns with the fingerprint of an answer segment: if only one of them
 * descends from the turn of an earlier segment, it is assigned.
 */
function assignDescendants(state: MatchState): void {
  const { ancestry, turnsBySegment, assignedTurns, ambiguousSegments, candidatesBySegment } = state
  let earlierTurn: RecordedTurn | null = null
  for (const [index, candidates] of candidatesBySegment.entries()) {
    const descendant = ambiguousSegments.has(index)
      ? ancestry.findOnlyDescendant(earlierTurn, candidates)
      : null
    if (descendant !== null && !assignedTurns.has(descendant)) {
      assignTurn(state, index, descendant)
      ambiguousSegments.delete(index)
    }
    earlierTurn = turnsBySegment[index]?.at(-1) ?? earlierTurn
  }
}

/**
 * A turn of another chat may have the segment's fingerprint by coincidence, because a client may
 * join the texts of several turns. Such turns are dropped if the turns that the segment's markers
 * name together have exactly its text and all its calls. Turns of the same chat are kept, because
 * the markers may have been moved there.
 */
function dropCoincidentalMatches(
  state: MatchState,
  turnsOfFingerprint: RecordedTurn[],
  segment: Segment,
  index: number,
): RecordedTurn[] {
  const { ancestry } = state
  const { normalizedText, callIds, userMessages } = segment
  const alike = turnsOfFingerprint.filter(({ input }) => mayAnswerOneOf(input, userMessages))
  const markedTurns = findMarkedTurns(segment, ancestry)
  const [firstMarked] = markedTurns
  if (firstMarked === undefined || markedTurns.some((turn) => alike.includes(turn))) return alike
  if (markedTurns.some((turn) => hasFingerprintOfOtherSegment(state, turn, index))) return alike
  const markedCallIds = new Set(
    markedTurns.flatMap(({ output }) => output.map((item) => readToolCallIdentity(item)?.callId)),
  )
  const hasSameText = normalizeTurnText(markedTurns) === removeEmptyFences(normalizedText)
  if (!hasSameText || !callIds.every((callId) => markedCallIds.has(callId))) return alike
  return alike.filter(
    (turn) =>
      state.markerTurnIds.has(turn.id) ||
      ancestry.isDescendant(firstMarked, turn) ||
      ancestry.isDescendant(turn, firstMarked),
  )
}

/**
 * Completes the turns of an answer segment that has some: adds the stored turns between two of
 * them, and the earlier turns that the first of them continues. Turns with a new question, and
 * turns whose text the segment lacks, are not added.
 */
function addContinuedTurns(state: MatchState, index: number): void {
  const { segments, ancestry, turnsBySegment, assignedTurns, doubtedTurns } = state
  const segmentTurns = turnsBySegment[index] ?? []
  const segment = segments[index]
  if (segment === undefined || segmentTurns[0] === undefined) return
  const segmentText = removeEmptyFences(segment.normalizedText)
  for (let nextIndex = segmentTurns.length - 1; nextIndex > 0; nextIndex -= 1) {
    const [earlier, later] = [segmentTurns[nextIndex - 1], segmentTurns[nextIndex]]
    if (earlier === undefined || later === undefined) continue
    const turnsBetween = ancestry.listTurnsBetween(earlier, later)
    if (turnsBetween.some((turn) => assignedTurns.has(turn) || doubtedTurns.has(turn))) continue
    if ([...turnsBetween, later].some(hasNewQuestion)) continue
    if (!turnsBetween.every((turn) => segmentText.includes(state.getTurnText(turn)))) continue
    segmentTurns.splice(nextIndex, 0, ...turnsBetween)
    for (const turn of turnsBetween) assignedTurns.add(turn)
  }
  for (const turn of findContinuedTurns(segmentTurns, segment, ancestry, state).toReversed()) {
    segmentTurns.unshift(turn)
    assignedTurns.add(turn)
    doubtedTurns.delete(turn)
  }
}
