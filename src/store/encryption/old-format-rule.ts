/**
 * Decides whether stored texts in old formats are trusted: those that are not encrypted, or not bound
 * to their user. An attacker who can write to the database, but has no key, could have written them.
 * They are trusted until a flag in the database says that everything is encrypted. The flag is set for a database that
 * is empty when it is first opened with a key, and by the re-encryption of all rows.
 *
 * The attacker can delete the flag. The setting `reject` does not depend on it. (Adding the flag gains
 * nothing: it makes texts unreadable that the attacker could delete as well.)
 */
import { sql } from 'kysely'
import { createStatementCompiler } from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'

/** Value of the setting `STORAGE_PLAIN_TEXT`. */
export type OldFormatSetting = 'auto' | 'accept' | 'reject'

export interface OldFormatState {
  readonly isAllEncrypted: boolean
  readonly trustsOldFormats: boolean
}

/** Reads the flag. With a key, sets it for an empty database. */
export async function loadOldFormatState(
  engine: Engine,
  setting: OldFormatSetting,
  hasKey: boolean,
): Promise<OldFormatState> {
  const { selectState, flagEmpty } = createStatements(engine)
  const [[row] = []] = await engine.read([selectState(null)])
  const { flags, rows } = row as { readonly flags: number; readonly rows: number }
  const isEmpty = flags === 0 && rows === 0
  if (hasKey && isEmpty) await engine.write([flagEmpty(null)])
  const isAllEncrypted = flags > 0 || (hasKey && isEmpty)
  return {
    isAllEncrypted,
    trustsOldFormats: setting === 'accept' || (setting === 'auto' && !isAllEncrypted),
  }
}

/** Sets the flag. */
export async function flagAllEncrypted(engine: Engine): Promise<void> {
  await engine.write([createStatements(engine).flagAll(null)])
}

/** At least one of these tables has rows if any table with texts has rows. */
const TABLES = ['turns', 'conversations', 'media', 'summaries', 'facts', 'layer_versions']

function createStatements({ language }: Engine) {
  const compile = createStatementCompiler(language)
  const isFilled = sql.join(
    TABLES.map((table) => sql`exists (select 1 from ${sql.table(table)})`),
    sql` or `,
  )
  return {
    selectState: compile<null>(
      null,
      () => sql`select (
          select count(*) from database_flags where name = 'all-encrypted') as flags,
        case when ${isFilled} then 1 else 0 end as rows`,
    ),
    flagEmpty: compile<null>(
      null,
      () => sql`insert into database_flags (name) select 'all-encrypted'
        where not (${isFilled}) on conflict do nothing`,
    ),
    flagAll: compile<null>(
      null,
      () => sql`insert into database_flags (name) values ('all-encrypted') on conflict do nothing`,
    ),
  }
}
