/** Holds the state while a segment is restored, and adds pieces and missing outputs to it. */
import type { Item } from '../../core/item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import type { FindToolOutput, RecordedOutput } from '../find-recorded-tool-outputs.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import type { TextAlignment } from '../text/align-edited-text.ts'
import { type RestoredPiece, createDroppedPiece } from './restored-piece.ts'
import type { UnmatchedClientItems } from './track-unmatched-client-items.ts'
import type { UnmatchedClientText } from './track-unmatched-client-text.ts'

export interface MatchedSegment {
  readonly segment: Segment
  /** The client's items of the segment. */
  readonly clientItems: readonly Item[]
  /** The recorded turns of the segment; at least one. */
  readonly turns: readonly RecordedTurn[]
  readonly replaysTools: boolean
  readonly findOutput: FindToolOutput
  /** Calls of the client for which it also sends the output. */
  readonly answeredCalls: ReadonlySet<Item>
  /** Call keys of the outputs after the segment for which the client has no call. */
  readonly unpairedOutputKeys: ReadonlySet<string>
}

export interface RestoreState extends MatchedSegment {
  /** `null` if the text is unedited. */
  readonly alignment: TextAlignment | null
  /**
   * Indexes of recorded messages that replace a client's text with other whitespace or damaged
   * markers.
   */
  readonly restoredMessages: ReadonlySet<number>
  /** The turn that ends with items which the client does not see, if unrecorded text follows it. */
  readonly turnBeforeUnrecordedText: RecordedTurn | null
  readonly messageCount: number
  /** Client text that belongs to no recorded message. */
  readonly unmatchedText: UnmatchedClientText
  /** Maps turn ids to indexes, for silent turns: turns without text whose markers are in the segment. */
  readonly silentTurns: ReadonlyMap<string, number>
  /** Client items, except messages, that are not matched with a recorded item yet. */
  readonly unmatchedItems: UnmatchedClientItems
  /** Returns the client's copy of a recorded reasoning item. */
  readonly findClientReasoning: (reasoning: Item) => Item | null
  readonly pieces: RestoredPiece[]
  /** Reasoning held until the item it led to is added. */
  pendingReasoning: RestoredPiece[]
  /** True if an item that followed pending reasoning was dropped. */
  isFollowerDropped: boolean
  /** Index of the next recorded message. */
  nextMessage: number
  /** Missing outputs by the turn whose input contains them. */
  readonly missingOutputs: Map<RecordedTurn, RecordedOutput[]>
}

export function addPiece(state: RestoreState, piece: RestoredPiece): void {
  if (piece.item === null) state.isFollowerDropped = state.pendingReasoning.length > 0
  else {
    state.pieces.push(...state.pendingReasoning)
    state.pendingReasoning = []
    state.isFollowerDropped = false
  }
  state.pieces.push(piece)
}

export function dropPendingReasoning(state: RestoreState): void {
  for (const _ of state.pendingReasoning) {
    state.pieces.push(createDroppedPiece('reasoning-without-follower'))
  }
  state.pendingReasoning = []
  state.isFollowerDropped = false
}

export function addMissingOutput({ missingOutputs }: RestoreState, output: RecordedOutput): void {
  const outputsOfTurn = missingOutputs.get(output.turn)
  if (outputsOfTurn === undefined) missingOutputs.set(output.turn, [output])
  else outputsOfTurn.push(output)
}
