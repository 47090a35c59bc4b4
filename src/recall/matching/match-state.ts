/** Holds the state while turns are matched with segments: candidates and assigned turns. */
import type { Item } from '../../core/item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'

export interface TurnMatches {
  /** One list per segment: its turns in order; empty if none was found. */
  readonly turnsBySegment: readonly (readonly RecordedTurn[])[]
  /** Indexes of the segments that several turns fit equally well. */
  readonly ambiguousSegments: ReadonlySet<number>
  /** Turns whose markers were not trusted. */
  readonly untrustedTurns: ReadonlySet<RecordedTurn>
}

export interface MatchState extends TurnMatches {
  readonly items: readonly Item[]
  readonly segments: readonly Segment[]
  readonly ancestry: TurnAncestry
  readonly turnsBySegment: RecordedTurn[][]
  /** One list per segment: the turns that have its fingerprint. */
  readonly candidatesBySegment: RecordedTurn[][]
  readonly assignedTurns: Set<RecordedTurn>
  readonly ambiguousSegments: Set<number>
  readonly untrustedTurns: Set<RecordedTurn>
  /** Ids of the turns that the markers of all segments name. */
  readonly markerTurnIds: ReadonlySet<string>
  readonly segmentByFingerprint: ReadonlyMap<string | null, number>
}

export function assignTurn(state: MatchState, index: number, turn: RecordedTurn): void {
  state.turnsBySegment[index]?.push(turn)
  state.assignedTurns.add(turn)
}

export function findMarkedTurns(
  { markerTurnIds }: Pick<Segment, 'markerTurnIds'>,
  ancestry: TurnAncestry,
): readonly RecordedTurn[] {
  return [...new Set(markerTurnIds)].flatMap((id) => ancestry.findTurn(id) ?? [])
}

export function getSingleTurn(turns: readonly RecordedTurn[]): RecordedTurn | null {
  return turns.length === 1 ? (turns[0] ?? null) : null
}

/** True if the turn's fingerprint identifies another segment of this list. */
export function hasFingerprintOfOtherSegment(
  { segmentByFingerprint }: MatchState,
  turn: RecordedTurn,
  index: number,
): boolean {
  if (turn.fingerprint === null) return false
  return (segmentByFingerprint.get(turn.fingerprint) ?? index) !== index
}
