/**
 * Matches the segments of a client's list with recorded turns. A turn is assigned to one segment at
 * most. If several turns may belong to a segment and nothing decides between them, the segment gets
 * none: restoring items of another answer would be worse than restoring none.
 *
 * A turn is matched by, most trusted first:
 *
 * - a fingerprint, which covers everything up to the segment;
 * - a marker that contradicts neither a fingerprint nor the text
 *   (`recall/markers/select-trusted-markers.ts`);
 * - the id of a tool call, if only one turn can have made the call (some providers count ids from 0
 *   in every answer).
 *
 * Among turns that match equally well, an ancestor of a later segment's turn or a descendant of an
 * earlier one's is taken.
 */
import type { Item } from '../../core/item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import { readToolCallIdentity } from '../../core/items/tool-call-pairs.ts'
import { selectTrustedMarkers } from '../markers/select-trusted-markers.ts'
import type { SegmentedHistory, Segment } from '../split-and-fingerprint-segments.ts'
import { normalizeTurnText, removeEmptyFences } from '../text/normalize-text.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import { isSameQuestion } from './compare-questions.ts'
import { indexCallingTurns } from './find-calling-turns.ts'
import { findFirstContinuation, findLastContinuation } from './find-first-and-last-continuation.ts'
import { findContinuedTurns } from './find-segment-ancestor-turns.ts'
import { hasIdenticalToolOutputs } from './locate-turn-question.ts'
import {
  type TurnMatches,
  type MatchState,
  assignTurn,
  findMarkedTurns,
  getSingleTurn,
  hasFingerprintOfOtherSegment,
} from './match-state.ts'
import { asksNewQuestion } from './turns-answer-same-question.ts'

export function matchTurnsToSegments(
  items: readonly Item[],
  segmentedHistory: SegmentedHistory,
  ancestry: TurnAncestry,
): TurnMatches {
  const { segments, keys } = segmentedHistory
  const state: MatchState = {
    items,
    segments,
    ancestry,
    turnsBySegment: segments.map(() => []),
    candidatesBySegment: segments.map(() => []),
    assignedTurns: new Set(),
    ambiguousSegments: new Set(),
    untrustedTurns: new Set(),
    markerTurnIds: new Set(keys.turnIds),
    segmentByFingerprint: new Map(segments.map(({ fingerprint }, index) => [fingerprint, index])),
  }
  if (ancestry.allTurns.length > 0) {
    assignByFingerprint(state)
    assignByMarkers(state)
    assignByCallIds(state)
    assignEmptyTurns(state)
    // Runs again: a turn that was assigned since may be the parent of one of several candidates.
    assignDescendants(state)
    for (const index of segments.keys()) addContinuedTurns(state, index)
  }
  return state
}

/**
 * Assigns to each segment the turn that has its fingerprint. The loop goes from the last segment to
 * the first, because a turn names its parent and not its children.
 */
function assignByFingerprint(state: MatchState): void {
  const { segments, ancestry, candidatesBySegment } = state
  for (const turn of ancestry.allTurns) {
    const index =
      turn.fingerprint === null ? undefined : state.segmentByFingerprint.get(turn.fingerprint)
    if (index !== undefined) candidatesBySegment[index]?.push(turn)
  }
  let laterTurn: RecordedTurn | null = null
  for (const [index, sameFingerprint] of [...candidatesBySegment.entries()].toReversed()) {
    if (sameFingerprint.length === 0) continue
    const segmentMarkerIds = segments[index]?.markerTurnIds ?? []
    const candidates = dropCoincidentalMatches(state, sameFingerprint, index)
    candidatesBySegment[index] = candidates
    if (candidates.length === 0) continue
    const markedTurns = candidates.filter(({ id }) => segmentMarkerIds.includes(id))
    const turn: RecordedTurn | null =
      getSingleTurn(candidates) ??
      ancestry.findNearestAncestor(laterTurn, candidates) ??
      getSingleTurn(markedTurns) ??
      getSingleTurn(candidates.filter(({ id }) => state.markerTurnIds.has(id))) ??
      // Without a marker, only the start of the answer is certain to be in the segment.
      (markedTurns.length > 0
        ? findLastContinuation(markedTurns, ancestry)
        : findFirstContinuation(candidates, ancestry))
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
 * Assigns a turn to a segment with several candidates, if only one of them descends from an earlier
 * segment's turn.
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
 * Returns the turns without those that have the segment's fingerprint by coincidence: a client that
 * joins the texts of several turns may produce the text of one turn of another chat. The turns that
 * the segment's markers name are preferred if they have exactly this text and all calls. Turns of the
 * same chat are not dropped: there, the markers were moved.
 */
function dropCoincidentalMatches(
  state: MatchState,
  turnsOfFingerprint: RecordedTurn[],
  index: number,
): RecordedTurn[] {
  const { ancestry } = state
  const segment = state.segments[index] ?? EMPTY_SEGMENT
  const { normalizedText, callIds, userMessages } = segment
  const alike = turnsOfFingerprint.filter(({ input }) => isSameQuestion(input, userMessages))
  const markedTurns = findMarkedTurns(segment, ancestry)
  const [firstMarked] = markedTurns
  if (firstMarked === undefined || markedTurns.some((turn) => alike.includes(turn))) return alike
  if (markedTurns.some((turn) => hasFingerprintOfOtherSegment(state, turn, index))) return alike
  const markedCallIds = listTurnCallIds(markedTurns)
  const hasSameText = normalizeTurnText(markedTurns) === removeEmptyFences(normalizedText)
  if (!hasSameText || !callIds.every((callId) => markedCallIds.has(callId))) return alike
  return alike.filter(
    (turn) =>
      state.markerTurnIds.has(turn.id) ||
      ancestry.isDescendant(firstMarked, turn) ||
      ancestry.isDescendant(turn, firstMarked),
  )
}

const EMPTY_SEGMENT = { markerTurnIds: [], normalizedText: '', callIds: [], userMessages: [] }

function listTurnCallIds(turns: readonly RecordedTurn[]): ReadonlySet<string | undefined> {
  return new Set(
    turns.flatMap(({ output }) => output.map((item) => readToolCallIdentity(item)?.callId)),
  )
}

function assignByMarkers(state: MatchState): void {
  const { segments, ancestry, turnsBySegment, assignedTurns, ambiguousSegments } = state
  let hasMovedMarker = false
  const namedTurns = segments.map((segment, index) => {
    const ownTurns = turnsBySegment[index] ?? []
    const knownTurns = findMarkedTurns(segment, ancestry)
    const candidates = knownTurns.filter(
      (turn) => !assignedTurns.has(turn) && !hasFingerprintOfOtherSegment(state, turn, index),
    )
    hasMovedMarker ||= knownTurns.some(
      (turn) => !candidates.includes(turn) && !ownTurns.includes(turn),
    )
    return ownTurns.length > 0 || ambiguousSegments.has(index) ? [] : candidates
  })
  if (namedTurns.every((candidates) => candidates.length === 0)) return
  const trusted = selectTrustedMarkers({
    segments,
    ancestry,
    attachedTurns: turnsBySegment,
    namedTurns,
    hasMovedMarker,
  })
  for (const [index, ownTurns] of trusted.turnsBySegment.entries()) {
    for (const turn of ownTurns) assignTurn(state, index, turn)
  }
  for (const turn of trusted.untrustedTurns) state.untrustedTurns.add(turn)
}

/** Assigns turns by their tool calls, from the last segment to the first like `assignByFingerprint`. */
function assignByCallIds(state: MatchState): void {
  const { segments, ancestry, turnsBySegment, assignedTurns, ambiguousSegments } = state
  const isUnassigned = (segment: Segment, index: number) =>
    segment.callIds.length > 0 &&
    turnsBySegment[index]?.length === 0 &&
    !ambiguousSegments.has(index)
  if (!segments.some(isUnassigned)) return
  const findCallingTurns = indexCallingTurns(ancestry.allTurns)
  const earlierTurns: (RecordedTurn | null)[] = []
  let earlierTurn: RecordedTurn | null = null
  for (const ownTurns of turnsBySegment) {
    earlierTurns.push(earlierTurn)
    earlierTurn = ownTurns.at(-1) ?? earlierTurn
  }
  let laterTurn: RecordedTurn | null = null
  for (const [index, segment] of [...segments.entries()].toReversed()) {
    if (isUnassigned(segment, index)) {
      let hasSeveralCallers = false
      for (const call of state.items.slice(segment.start, segment.end)) {
        const candidates = findCallingTurns(call, segment).filter(
          (turn) =>
            !hasFingerprintOfOtherSegment(state, turn, index) &&
            !(assignedTurns.has(turn) && turnsBySegment[index]?.includes(turn) === false),
        )
        const turn =
          getSingleTurn(candidates) ??
          ancestry.findNearestAncestor(laterTurn, candidates) ??
          ancestry.findOnlyDescendant(earlierTurns[index] ?? null, candidates)
        if (turn !== null && !assignedTurns.has(turn)) assignTurn(state, index, turn)
        hasSeveralCallers ||= candidates.length > 1
      }
      if (hasSeveralCallers && turnsBySegment[index]?.length === 0) ambiguousSegments.add(index)
    }
    laterTurn = turnsBySegment[index]?.[0] ?? laterTurn
  }
}

/**
 * Assigns turns without text after tool outputs. Only a marker identifies such a turn; it is
 * trusted if the outputs are those of the turn's input and the parent is in the previous segment.
 */
function assignEmptyTurns(state: MatchState): void {
  const { segments, ancestry, turnsBySegment, assignedTurns, ambiguousSegments } = state
  for (const [index, segment] of segments.entries()) {
    if (!isEmptyAfterOutputs(segment) || ambiguousSegments.has(index)) continue
    if (turnsBySegment[index]?.length !== 0) continue
    const hasNewUserMessage = segments[index - 1]?.lastUserMessage !== segment.lastUserMessage
    const previousTurn = hasNewUserMessage ? undefined : turnsBySegment[index - 1]?.at(-1)
    const candidates = findMarkedTurns(segment, ancestry).filter(
      (candidate) =>
        isEmptyContinuation(candidate, segment, previousTurn, ancestry) &&
        !assignedTurns.has(candidate),
    )
    const turn = getSingleTurn(candidates)
    if (turn === null) continue
    assignTurn(state, index, turn)
    state.untrustedTurns.delete(turn)
  }
}

function isEmptyAfterOutputs({ normalizedText, callIds, toolOutputs }: Segment): boolean {
  return removeEmptyFences(normalizedText) === '' && callIds.length === 0 && toolOutputs.length > 0
}

function isEmptyContinuation(
  turn: RecordedTurn,
  segment: Segment,
  previousTurn: RecordedTurn | undefined,
  ancestry: TurnAncestry,
): boolean {
  if (ancestry.findParent(turn) !== previousTurn || normalizeTurnText([turn]) !== '') return false
  return !turn.input.some(isUserMessage) && hasIdenticalToolOutputs(turn, segment)
}

/**
 * Adds to a segment the turns that its turns continue, and the turns between two of its turns.
 * Turns with a question of their own, or with text that the segment lacks, are not added.
 */
function addContinuedTurns(
  { segments, ancestry, turnsBySegment, assignedTurns, untrustedTurns }: MatchState,
  index: number,
): void {
  const ownTurns = turnsBySegment[index] ?? []
  const segment = segments[index]
  if (segment === undefined || ownTurns[0] === undefined) return
  const segmentText = removeEmptyFences(segment.normalizedText)
  for (let nextIndex = ownTurns.length - 1; nextIndex > 0; nextIndex -= 1) {
    const [earlier, later] = [ownTurns[nextIndex - 1], ownTurns[nextIndex]]
    if (earlier === undefined || later === undefined) continue
    const turnsBetween = ancestry.listTurnsBetween(earlier, later)
    if (turnsBetween.some((turn) => assignedTurns.has(turn) || untrustedTurns.has(turn))) continue
    if ([...turnsBetween, later].some(asksNewQuestion)) continue
    if (!turnsBetween.every((turn) => segmentText.includes(normalizeTurnText([turn])))) continue
    ownTurns.splice(nextIndex, 0, ...turnsBetween)
    for (const turn of turnsBetween) assignedTurns.add(turn)
  }
  const otherTurns = { assignedTurns, untrustedTurns }
  for (const turn of findContinuedTurns(ownTurns, segment, ancestry, otherTurns).toReversed()) {
    ownTurns.unshift(turn)
    assignedTurns.add(turn)
    untrustedTurns.delete(turn)
  }
}
