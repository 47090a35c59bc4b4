/**
 * Converts a new turn to a stored turn, in the form in which the store would return it, without
 * storing it.
 */
import type { NewTurn, StoredTurn } from '../store/turns/turn-store-interface.ts'

export function convertNewToStoredTurn(
  turn: NewTurn,
  endedAtMs: number,
  fields: Partial<StoredTurn> = {},
): StoredTurn {
  return {
    ...turn,
    digests: {},
    metadata: turn.metadata ?? null,
    deletedAtMs: null,
    state: 'complete',
    endedAtMs,
    usage: null,
    failure: null,
    finish: null,
    servedModel: null,
    contentHash: null,
    reasoningRefusedBy: null,
    usedAtMs: endedAtMs,
    output: [],
    hidden: new Set(),
    ...fields,
  }
}
