/** Defines the pieces that a restored segment consists of: items to send, and notes on items left out. */
import type { Item, Message } from '../../core/item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import type { Note } from '../../core/note.ts'

/** An item, or `null` for a dropped one, and the note that explains the change. */
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
export const OMITTED_CALL_PIECE = createDroppedPiece('call-forgotten')

export function createDroppedPiece(why: string): RestoredPiece {
  return { item: null, note: { did: 'dropped', why } }
}

export function createUnchangedPiece(item: Item): RestoredPiece {
  return { item, note: null }
}

/** Creates the piece for a recorded item that the client did not send. */
export function createRecalledPiece(item: Item, turn: RecordedTurn): RestoredPiece {
  return { item, note: { did: 'added', why: 'recalled', detail: `Recorded in turn ${turn.id}.` } }
}
