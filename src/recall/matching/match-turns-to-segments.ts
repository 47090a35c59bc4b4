/**
 * Matches the answer segments (consecutive model-made items) of a client's list with stored turns.
 * A turn is assigned to at most one segment. If several turns fit a segment and nothing decides
 * between them, the segment gets none, because restoring items of another answer would be worse
 * than restoring none.
 *
 * A segment and its turn have one of these in common, the most trusted first:
 *
 * - a fingerprint, which covers the segment and everything before it;
 * - a marker that is trusted because the turn's question and text fit the segment
 *   (`recall/markers/select-trusted-markers.ts`);
 * - a tool call, if only one turn can have made it (some providers count call ids from 0 in each
 *   answer).
 *
 * If several turns fit equally well, an ancestor of a later segment's turn is preferred, then a
 * descendant of an earlier segment's turn.
 */
import type { Item } from '../../core/item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import { readToolCallIdentity } from '../../core/items/tool-call-pairs.ts'
import { selectTrustedMarkers } from '../markers/select-trusted-markers.ts'
import type { SegmentedHistory, Segment } from '../split-and-fingerprint-segments.ts'
import { normalizeTurnText, removeEmptyFences } from '../text/normalize-text.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import { mayAnswerOneOf } from './compare-questions.ts'
import { assignTurnsByToolCalls } from './assign-turns-by-tool-calls.ts'
import { findContinuedTurns, findEndOfAnswer } from './find-continued-turns.ts'
import { hasIdenticalToolOutputs } from './locate-segments-by-question.ts'
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
  const { segments, lookupKeys } = segmentedHistory
  const state: MatchState = {
    items,
    segments,
    ancestry,
    turnsBySegment: segments.map(() => []),
    candidatesBySegment: segments.map(() => []),
    assignedTurns: new Set(),
    ambiguousSegments: new Set(),
    untrustedTurns: new Set(),
    markerTurnIds: new Set(lookupKeys.turnIds),
    segmentByFingerprint: new Map(segments.map(({ fingerprint }, index) => [fingerprint, index])),
  }
  if (ancestry.allTurns.length > 0) {
    assignByFingerprint(state)
    assignByMarkers(state)
    assignTurnsByToolCalls(state)
    assignEmptyTurns(state)
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
    const sameFingerprint = turnsByFingerprint.get(segment.fingerprint) ?? []
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

/** Assigns turns by trusted markers to the answer segments that have no turn yet. */
function assignByMarkers(state: MatchState): void {
  const { segments, ancestry, turnsBySegment, assignedTurns, ambiguousSegments } = state
  let hasMovedMarker = false
  const markedTurns = segments.map((segment, index) => {
    const segmentTurns = turnsBySegment[index] ?? []
    const namedTurns = findMarkedTurns(segment, ancestry)
    const candidates = namedTurns.filter(
      (turn) => !assignedTurns.has(turn) && !hasFingerprintOfOtherSegment(state, turn, index),
    )
    hasMovedMarker ||= namedTurns.some(
      (turn) => !candidates.includes(turn) && !segmentTurns.includes(turn),
    )
    return segmentTurns.length > 0 || ambiguousSegments.has(index) ? [] : candidates
  })
  if (markedTurns.every((candidates) => candidates.length === 0)) return
  const trusted = selectTrustedMarkers({
    segments,
    ancestry,
    assignedTurnsBySegment: turnsBySegment,
    markedTurnsBySegment: markedTurns,
    hasMovedMarker,
  })
  for (const [index, turns] of trusted.turnsBySegment.entries())
    for (const turn of turns) assignTurn(state, index, turn)
  for (const turn of trusted.untrustedTurns) state.untrustedTurns.add(turn)
}

/**
 * Assigns turns that have neither text nor calls and follow tool outputs. Only its marker can
 * identify such a turn. The marker is trusted if the outputs before the segment have the ids and
 * texts of those in the turn's input, and the turn's parent is the last turn of the previous answer
 * segment.
 */
function assignEmptyTurns(state: MatchState): void {
  const { segments, ancestry, turnsBySegment, assignedTurns, ambiguousSegments } = state
  for (const [index, segment] of segments.entries()) {
    const hasOutputsOnly = segment.fingerprint === null && segment.toolOutputs.length > 0
    if (!hasOutputsOnly || ambiguousSegments.has(index)) continue
    if (turnsBySegment[index]?.length !== 0) continue
    const hasNewUserMessage = segments[index - 1]?.lastUserMessage !== segment.lastUserMessage
    const previousTurn = hasNewUserMessage ? undefined : turnsBySegment[index - 1]?.at(-1)
    const candidates = findMarkedTurns(segment, ancestry).filter(
      (candidate) =>
        !assignedTurns.has(candidate) &&
        ancestry.findParent(candidate) === previousTurn &&
        normalizeTurnText([candidate]) === '' &&
        !candidate.input.some(isUserMessage) &&
        hasIdenticalToolOutputs(candidate, segment),
    )
    const turn = getOnlyTurn(candidates)
    if (turn === null) continue
    assignTurn(state, index, turn)
    state.untrustedTurns.delete(turn)
  }
}

/**
 * Completes the turns of an answer segment that has some: adds the stored turns between two of
 * them, and the earlier turns that the first of them continues. Turns with a new question, and
 * turns whose text the segment lacks, are not added.
 */
function addContinuedTurns(state: MatchState, index: number): void {
  const { segments, ancestry, turnsBySegment, assignedTurns, untrustedTurns } = state
  const segmentTurns = turnsBySegment[index] ?? []
  const segment = segments[index]
  if (segment === undefined || segmentTurns[0] === undefined) return
  const segmentText = removeEmptyFences(segment.normalizedText)
  for (let nextIndex = segmentTurns.length - 1; nextIndex > 0; nextIndex -= 1) {
    const [earlier, later] = [segmentTurns[nextIndex - 1], segmentTurns[nextIndex]]
    if (earlier === undefined || later === undefined) continue
    const turnsBetween = ancestry.listTurnsBetween(earlier, later)
    if (turnsBetween.some((turn) => assignedTurns.has(turn) || untrustedTurns.has(turn))) continue
    if ([...turnsBetween, later].some(hasNewQuestion)) continue
    if (!turnsBetween.every((turn) => segmentText.includes(normalizeTurnText([turn])))) continue
    segmentTurns.splice(nextIndex, 0, ...turnsBetween)
    for (const turn of turnsBetween) assignedTurns.add(turn)
  }
  for (const turn of findContinuedTurns(segmentTurns, segment, ancestry, state).toReversed()) {
    segmentTurns.unshift(turn)
    assignedTurns.add(turn)
    untrustedTurns.delete(turn)
  }
}
