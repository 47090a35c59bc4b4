/** Stores where a limited search for expired turns has stopped, so that the next one continues there. */
import { sql } from 'kysely'
import { createStatementCompiler } from '../database/compile-statement.ts'
import { decodeColumnText, encodeColumnText } from '../database/encode-column-text.ts'
import type { Engine } from '../database/engine-interface.ts'
import type { ExpiryAndDeletionStore } from './expiry-and-deletion-store-interface.ts'

interface CursorRow {
  readonly chats: string
  readonly used_at: number
  readonly turn_id: string
}

export function createExpiryCursorStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  return {
    select: compile<Pick<CursorRow, 'chats'>>(
      'expiry-cursor',
      (slot) => sql`select used_at, turn_id from expiry_cursors where chats = ${slot('chats')}`,
    ),
    save: compile<CursorRow>(
      'save-expiry-cursor',
      (slot) => sql`insert into expiry_cursors (chats, used_at, turn_id)
        values (${slot('chats')}, ${slot('used_at')}, ${slot('turn_id')})
        on conflict (chats) do update set used_at = excluded.used_at, turn_id = excluded.turn_id`,
    ),
    remove: compile<Pick<CursorRow, 'chats'>>(
      'remove-expiry-cursor',
      (slot) => sql`delete from expiry_cursors where chats = ${slot('chats')}`,
    ),
  }
}

export function createExpiryCursors(
  engine: Engine,
): Pick<ExpiryAndDeletionStore, 'loadExpiryCursor' | 'saveExpiryCursor'> {
  const statements = createExpiryCursorStatements(engine.language)
  return {
    async loadExpiryCursor(chats) {
      const [[row] = []] = await engine.read([statements.select({ chats })])
      if (row === undefined) return null
      const { used_at: usedAtMs, turn_id: turnId } = row as CursorRow
      return { usedAtMs, turnId: decodeColumnText(turnId) }
    },
    async saveExpiryCursor(chats, cursor) {
      const query =
        cursor === null
          ? statements.remove({ chats })
          : statements.save({
              chats,
              used_at: cursor.usedAtMs,
              turn_id: encodeColumnText(cursor.turnId),
            })
      await engine.write([query], 'kill')
    },
  }
}
