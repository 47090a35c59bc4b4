/** Decrypts the rows of turns and of their items, with the pieces of long texts and the media. */
import type { Engine } from '../database/engine-interface.ts'
import type { TurnRow } from '../database/table-row-types.ts'
import type { ReadFailure, RowEncryption, RowOwner } from '../encryption/decrypt-rows.ts'
import { decryptRowsWithMedia, type MemoryOptions } from '../media/encode-and-restore-media-rows.ts'
import type { MediaStatements } from '../media/media-statements.ts'
import { decryptLongTexts } from '../pieces/decrypt-long-texts.ts'
import type { DecryptedItemRow, DecryptedTurnRow, ItemBodyRow } from './decode-turn-rows.ts'

/** `request` is null if the turn was deleted before it was read. */
type EncryptedTurnRow = Omit<TurnRow, 'request'> & { readonly request: string | null }

interface DecryptedTurns {
  readonly turns: readonly DecryptedTurnRow[]
  readonly items: readonly DecryptedItemRow[]
  readonly failures: readonly ReadFailure[]
}

/** All rows belong to `owner`. */
export async function decryptTurnRows(
  engine: Pick<Engine, 'read' | 'language'>,
  sql: MediaStatements,
  owner: RowOwner,
  {
    turns,
    items,
  }: { readonly turns: readonly EncryptedTurnRow[]; readonly items: readonly ItemBodyRow[] },
  encryption: RowEncryption,
  memory: MemoryOptions,
): Promise<DecryptedTurns> {
  const requestRows = turns.map(({ id, request }) => ({
    turn_id: id,
    side: 'request' as const,
    position: 0,
    body: request,
  }))
  const requests = await decryptLongTexts(engine, owner, requestRows, encryption.cipher, {
    ...memory,
    claimsPieces: memory.claimsMedia === true,
  })
  const decrypted = await decryptRowsWithMedia(engine, sql, owner, items, encryption, memory)
  return {
    turns: turns.map((turn, index) => ({ ...turn, request: requests.rows[index]?.text ?? null })),
    items: decrypted.rows,
    failures: [...requests.failures, ...decrypted.failures],
  }
}
