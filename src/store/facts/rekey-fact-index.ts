/**
 * Hashes the search terms of facts with the first key, if they were hashed with another key or
 * without one. Afterwards, searches need only the first key. An interrupted run can be started
 * again.
 */
import { sql } from 'kysely'
import { tryParseJsonObject } from '../../core/json/json.ts'
import { createStatementCompiler } from '../database/compile-statement.ts'
import type { Engine, SqlQuery } from '../database/engine-interface.ts'
import { createFactStatements } from './fact-statements.ts'
import { indexFactText } from './sql-fact-store.ts'
import { locateText, type StorageCipher } from '../encryption/cipher.ts'
import type { FactRow } from '../database/table-row-types.ts'

export async function rekeyFactIndex(
  engine: Engine,
  { termHashers, decrypt }: StorageCipher,
): Promise<void> {
  const [hasher] = termHashers
  if (hasher === undefined) return
  const { staleFacts, updateHash, ...facts } = createRekeyStatements(engine)
  let after = ''
  while (true) {
    const [found = []] = await engine.read([staleFacts({ after, keyId: hasher.keyId })])
    const rows = found as readonly StaleFact[]
    const last = rows.at(-1)
    if (last === undefined) return
    const queries = rows.flatMap((row): readonly SqlQuery[] => {
      const key = { tenant: row.tenant, user: row.user_id ?? '' }
      const body = decrypt(row.body, locateText(key, row.id, 'fact'))
      const text = tryParseJsonObject(body ?? '')?.['text']
      if (typeof text !== 'string') return []
      const index = indexFactText(text, key, hasher)
      const words = { ...key, ...index, id: row.id }
      // `updateHash` changes nothing if the fact was stored a second time meanwhile, with hashes of
      // the first key.
      return [
        updateHash({ ...words, keyId: hasher.keyId }),
        facts.removeWords(words),
        facts.insertWords(words),
      ]
    })
    if (queries.length > 0) await engine.write(queries)
    after = last.id
  }
}

type StaleFact = Pick<FactRow, 'id' | 'tenant' | 'user_id' | 'body'>

const BATCH_ROWS = 50

function createRekeyStatements(engine: Engine) {
  const compile = createStatementCompiler(engine.language)
  return {
    ...createFactStatements(engine.language),
    staleFacts: compile<{ readonly after: string; readonly keyId: string }>(
      null,
      (slot) => sql`select id, tenant, user_id, body from facts
        where id > ${slot('after')}
        and word_key <> ${slot('keyId')} order by id limit ${sql.lit(BATCH_ROWS)}`,
    ),
    updateHash: compile<{
      readonly id: string
      readonly allTermsHash: string
      readonly keyId: string
    }>(
      null,
      (slot) =>
        sql`update facts set words = ${slot('allTermsHash')}, word_key = ${slot('keyId')}
          where id = ${slot('id')} and not exists (
            select 1 from facts other where other.tenant = facts.tenant
            and coalesce(other.user_id, '') = coalesce(facts.user_id, '')
            and other.scope = facts.scope and other.words = ${slot('allTermsHash')})`,
    ),
  }
}
