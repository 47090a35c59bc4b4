/**
 * Names the words of facts anew where another key has named them, or none, so that they are found by
 * the newest alone. Whoever is interrupted just begins again.
 */
import { sql } from 'kysely'
import { tryParseJsonObject } from '../../core/json/json.ts'
import { createSqlCompiler } from '../database/compile-statement.ts'
import type { Engine, SqlQuery } from '../database/engine-interface.ts'
import { createFactStatements } from './fact-statements.ts'
import { factRowLocation, indexFactText } from './kysely-fact-store.ts'
import type { StorageCipher } from '../encryption/cipher.ts'
import type { FactRow } from '../database/table-row-types.ts'

export async function rekeyFactIndex(
  engine: Engine,
  { namings, unseal }: StorageCipher,
): Promise<void> {
  const [naming] = namings
  if (naming === undefined) return
  const { staleFacts, rename, ...facts } = statementsOf(engine)
  let after = ''
  while (true) {
    const [found = []] = await engine.read([staleFacts({ after, kid: naming.kid })])
    const rows = found as readonly StaleFact[]
    const last = rows.at(-1)
    if (last === undefined) return
    const queries = rows.flatMap((row): readonly SqlQuery[] => {
      const text = tryParseJsonObject(
        unseal(row.body, factRowLocation(row.id, row.tenant)) ?? '',
      )?.['text']
      if (typeof text !== 'string') return []
      const key = { tenant: row.tenant, user: row.user_id ?? '' }
      const { name, list: words } = indexFactText(text, key, naming)
      const own = { ...key, id: row.id, name, words }
      // It is there under its new name already if the same was kept meanwhile.
      return [rename({ ...own, kid: naming.kid }), facts.removeWords(own), facts.insertWords(own)]
    })
    if (queries.length > 0) await engine.write(queries)
    after = last.id
  }
}

type StaleFact = Pick<FactRow, 'id' | 'tenant' | 'user_id' | 'body'>

const BATCH_ROWS = 50

function statementsOf(engine: Engine) {
  const query = createSqlCompiler(engine.language)
  return {
    ...createFactStatements(engine.language),
    staleFacts: query<{ readonly after: string; readonly kid: string }>(
      null,
      (slot) => sql`select id, tenant, user_id, body from facts
        where id > ${slot(({ after }) => after)}
        and word_key <> ${slot(({ kid }) => kid)} order by id limit ${sql.lit(BATCH_ROWS)}`,
    ),
    rename: query<{ readonly id: string; readonly name: string; readonly kid: string }>(
      null,
      (slot) =>
        sql`update facts set words = ${slot(({ name }) => name)}, word_key = ${slot(({ kid }) => kid)}
          where id = ${slot(({ id }) => id)} and not exists (
            select 1 from facts other where other.tenant = facts.tenant
            and coalesce(other.user_id, '') = coalesce(facts.user_id, '')
            and other.scope = facts.scope and other.words = ${slot(({ name }) => name)})`,
    ),
  }
}
