/**
 * Holds the intermediate results of matching stored turns with the answer segments (consecutive
 * model-made items) of a client's list. `assignTurn` prevents that a turn is assigned to two
 * segments.
 */
import type { Item } from '../../core/item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'

export interface TurnMatches {
  /**
   * One list per answer segment: the stored turns that were matched with it; empty if none was
   * found.
   */
  readonly turnsBySegment: readonly (readonly RecordedTurn[])[]
  /**
   * Indexes of the answer segments that several stored turns fit equally well. Nothing is restored
   * in them, because the items of a wrong turn would be worse than none.
   */
  readonly ambiguousSegments: ReadonlySet<number>
  /** Turns that only untrusted markers name, e.g. markers that the user moved. */
  readonly doubtedTurns: ReadonlySet<RecordedTurn>
}

export interface MatchState extends TurnMatches {
  readonly items: readonly Item[]
  readonly segments: readonly Segment[]
  readonly ancestry: TurnAncestry
  readonly turnsBySegment: RecordedTurn[][]
  /** One list per answer segment: the stored turns that have its fingerprint. */
  readonly candidatesBySegment: RecordedTurn[][]
  readonly assignedTurns: Set<RecordedTurn>
  readonly ambiguousSegments: Set<number>
  readonly doubtedTurns: Set<RecordedTurn>
  /** Ids of all turns that are named by markers anywhere in the client's list. */
  readonly markerTurnIds: ReadonlySet<string>
  /** Returns a turn's text as `normalizeTurnText` returns it. */
  readonly getTurnText: (turn: RecordedTurn) => string
  readonly segmentByFingerprint: ReadonlyMap<string | null, number>
}

/**
 * Assigns a turn to an answer segment. Does nothing if the turn is already assigned to any segment.
 */
export function assignTurn(state: MatchState, segmentIndex: number, turn: RecordedTurn): void {
  if (state.assignedTurns.has(turn)) return
  state.turnsBySegment[segmentIndex]?.push(turn)
  state.assignedTurns.add(turn)
}

export function findMarkedTurns(
  { markerTurnIds }: Pick<Segment, 'markerTurnIds'>,
  ancestry: TurnAncestry,
): readonly RecordedTurn[] {
  return [...new Set(markerTurnIds)].flatMap((id) => ancestry.findTurn(id) ?? [])
}

export function getOnlyTurn(turns: readonly RecordedTurn[]): RecordedTurn | null {
  return turns.length === 1 ? (turns[0] ?? null) : null
}

/**
 * True if the turn belongs to an answer segment other than `segmentIndex`, because it has that
 * segment's fingerprint.
 */
export function hasFingerprintOfOtherSegment(
  { segmentByFingerprint }: MatchState,
  turn: RecordedTurn,
  segmentIndex: number,
): boolean {
  if (turn.fingerprint === null) return false
  return (segmentByFingerprint.get(turn.fingerprint) ?? segmentIndex) !== segmentIndex
}
