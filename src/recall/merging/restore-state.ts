/**
 * Holds the intermediate results of restoring one answer segment (consecutive model-made items in
 * the client's list), and adds restored items to them.
 */
import type { Item, Message, Reasoning } from '../../core/item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import type { Note } from '../../core/note.ts'
import type { FindToolOutput, RecordedOutput } from '../find-recorded-tool-outputs.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import type { ClientSegmentText } from './extract-client-text.ts'
import type { DeletionRule } from './find-deleted-items.ts'
import type { TextMatch, UnmatchedText } from './match-turn-texts.ts'
import type { UnmatchedClientItems } from './track-unmatched-client-items.ts'

export interface MatchedSegment {
  readonly segment: Segment
  /** The client's items in the answer segment. */
  readonly clientItems: readonly Item[]
  /** The stored turns that were matched with the answer segment; at least one. */
  readonly turns: readonly RecordedTurn[]
  readonly replaysTools: boolean
  readonly deletionRule: DeletionRule
  readonly findOutput: FindToolOutput
  /** The tool calls in the answer segment whose outputs the client sends, too. */
  readonly answeredCalls: ReadonlySet<Item>
  /**
   * Keys of tool outputs after the answer segment whose calls the client omits, e.g. `function
   * call_1`. Recorded calls with these keys are restored.
   */
  readonly unpairedOutputKeys: ReadonlySet<string>
}

export interface RestoreState extends MatchedSegment {
  /** Comparison of the client's text with the recorded messages. */
  readonly textMatch: TextMatch
  readonly clientText: ClientSegmentText
  /** Client text that belongs to no recorded message and is not yet added to `pieces`. */
  readonly unmatchedText: UnmatchedText[]
  /** The index of each of the client's items in the answer segment. */
  readonly itemIndexes: ReadonlyMap<Item, number>
  /**
   * The id of each turn without text whose marker is in the answer segment, with the turn's index
   * in `turns`.
   */
  readonly textlessTurns: ReadonlyMap<string, number>
  /** The client's items, except messages, that were not matched with a recorded item yet. */
  readonly unmatchedItems: UnmatchedClientItems
  /**
   * Returns the client's item for a recorded reasoning item, i.e. one with the same id or encrypted
   * content; `null` if the client did not send it.
   */
  readonly findClientReasoning: (reasoning: Item) => Reasoning | null
  /** True if recorded calls that the client does not send were deleted by the user. */
  readonly areMissingCallsDeleted: boolean
  /** Recorded reasoning that the user has deleted. */
  readonly deletedThoughts: ReadonlySet<Item>
  readonly pieces: RestoredPiece[]
  /**
   * Recorded reasoning that waits for the item recorded after it. If that item is dropped, the
   * reasoning is dropped, too.
   */
  pendingReasoning: RestoredPiece[]
  /** True if the item that was recorded after the pending reasoning was dropped. */
  isFollowerDropped: boolean
  /** Index of the next recorded message to restore. */
  nextMessageIndex: number
  /** Recorded tool outputs that the client omits, by the turn whose input contains them. */
  readonly missingOutputs: Map<RecordedTurn, RecordedOutput[]>
}

/**
 * Adds the client's next texts that match no recorded message, as long as `isNext` is true for
 * them. They come before reasoning that still waits for the item recorded after it, because nothing
 * may come between the two.
 */
export function addClientText(
  { pieces, unmatchedText, nextMessageIndex }: RestoreState,
  isNext: (text: UnmatchedText) => boolean,
): void {
  for (let [text] = unmatchedText; text !== undefined; [text] = unmatchedText) {
    if (text.messagesBefore > nextMessageIndex || !isNext(text)) return
    pieces.push(createEditedPiece(text.message))
    unmatchedText.shift()
  }
}

/** Adds the client's texts that come before `clientItem` in its list. */
export function addClientTextBefore(state: RestoreState, clientItem: Item): void {
  const { itemIndexes, clientText } = state
  const end = itemIndexes.get(clientItem) ?? 0
  addClientText(state, ({ clientIndex }) => {
    const source = clientText.sources[clientIndex]
    return source !== undefined && (itemIndexes.get(source) ?? 0) < end
  })
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
  for (const _ of state.pendingReasoning)
    state.pieces.push(createDroppedPiece('reasoning-without-follower'))
  state.pendingReasoning = []
  state.isFollowerDropped = false
}

/**
 * An item to send, or `null` for an item that is dropped; and a note on the change, or `null` if
 * there is none.
 */
export interface RestoredPiece {
  readonly item: Item | null
  readonly note: Omit<Note, 'at'> | null
}

export const TEXT_RESTORED_NOTE: RestoredPiece['note'] = {
  did: 'changed',
  why: 'text-restored',
  detail:
    'What the client has differs in blanks, in parts it was not shown, or in a damaged marker.',
}

export function createEditedPiece(item: Message): RestoredPiece {
  return { item, note: { did: 'changed', why: 'text-edited' } }
}

export const NON_REPLAYABLE_PIECE = createDroppedPiece('not-replayable')
export const STALE_COMPACTION_PIECE = createDroppedPiece('compaction-of-other-words')
export const DELETED_PIECE = createDroppedPiece('deleted-by-user')
export const LED_TO_EDITED_TEXT_PIECE = createDroppedPiece('reasoning-of-edited-text')
export const OMITTED_CALL_PIECE = createDroppedPiece('call-forgotten')

export function createDroppedPiece(why: string): RestoredPiece {
  return { item: null, note: { did: 'dropped', why } }
}

/** Creates the piece for a recorded item that the client does not send. */
export function createRecalledPiece(item: Item, turn: RecordedTurn): RestoredPiece {
  return { item, note: { did: 'added', why: 'recalled', detail: `Recorded in turn ${turn.id}.` } }
}
