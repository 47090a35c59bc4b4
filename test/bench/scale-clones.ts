/**
 * Fills a database with clones of all of its chats, in SQL. A clone has other ids, hashes and call ids, and the
 * same texts. Half of the clones belong to the tenant of the chats, the others to nine more tenants.
 */
import {
  ANSWER_MESSAGE_COLUMNS,
  ITEM_COLUMNS,
  REQUEST_COLUMNS,
  TURN_COLUMNS,
} from '../../src/store/database/table-row-types.ts'
import type { Engine, SqlQuery } from '../../src/store/database/engine-interface.ts'
import { TENANT } from './scale-chats.ts'

/** Adds clones until the database has about so many turns. Returns the number of turns. */
export async function addClones(
  engine: Engine,
  turns: number,
  onProgress: (turns: number) => void,
): Promise<number> {
  const originals = await countTurns(engine)
  const clones = Math.max(0, Math.ceil(turns / originals) - 1)
  // As few turns in a transaction as Postgres writes in some seconds.
  const atOnce = Math.max(1, Math.floor(4_000 / originals))
  for (let from = 0; from < clones; from += atOnce) {
    const numbers = Array.from({ length: Math.min(atOnce, clones - from) }, (_, at) => from + at)
    await engine.write(buildInserts(numbers, clones), 'kill')
    onProgress(originals * (from + numbers.length + 1))
  }
  await engine.write([once('analyze')])
  return originals * (clones + 1)
}

async function countTurns(engine: Engine): Promise<number> {
  const [[row] = []] = await engine.read([once('select count(*) as turns from turns')])
  return (row as { readonly turns: number }).turns
}

function buildInserts(numbers: readonly number[], clones: number): readonly SqlQuery[] {
  const values = numbers.map((number) => {
    const tenant = number % 2 === 0 ? TENANT : `other${number % 9}`
    // Spreads the clones over the range of the codes, so that their ids are spread like times.
    const code = formatCode(Math.floor(((number + 1) / (clones + 1)) * 32 ** 6))
    return `('${code}', '${tenant}')`
  })
  const insert = (table: string, columns: readonly string[], changes: Changes) => {
    const selected = columns.map((column) => changes[column] ?? `source.${column}`)
    return once(`with clones(code, tenant) as (values ${values.join(', ')})
      insert into ${table} (${columns.join(', ')})
      select ${selected.join(', ')} from clones cross join original_${table} source`)
  }
  return TABLES.map(({ table, columns, changes }) => insert(table, columns, changes))
}

type Changes = Readonly<Record<string, string>>

/** Turn ids are of the form `tttttttttt..........`: a clone has its code in place of the last 6 of the time. */
const cloneId = (column: string) =>
  `substr(source.${column}, 1, 4) || clones.code || substr(source.${column}, 11)`
const cloneConversation = (column: string) =>
  `substr(source.${column}, 1, 9) || clones.code || substr(source.${column}, 16)`
const cloneHash = (column: string) => `clones.code || substr(source.${column}, 7)`
const tenant = { tenant: 'clones.tenant' }

const TABLES: readonly {
  readonly table: string
  readonly columns: readonly string[]
  readonly changes: Changes
}[] = [
  {
    table: 'turns',
    columns: [...TURN_COLUMNS, 'shortcut', 'bytes'],
    changes: {
      ...tenant,
      id: cloneId('id'),
      thread: cloneId('thread'),
      parent: cloneId('parent'),
      shortcut: cloneId('shortcut'),
      conversation: cloneConversation('conversation'),
      fingerprint: cloneHash('fingerprint'),
      content_hash: cloneHash('content_hash'),
    },
  },
  {
    table: 'items',
    columns: [...ITEM_COLUMNS, 'called_for'],
    changes: {
      ...tenant,
      turn_id: cloneId('turn_id'),
      item_id: 'source.item_id || clones.code',
      // Some providers reuse the ids of calls.
      call_id: "case when source.call_id is null then null else 'call_0' end",
    },
  },
  {
    table: 'requests',
    columns: [...REQUEST_COLUMNS],
    changes: { ...tenant, turn_id: cloneId('turn_id'), base: cloneId('base') },
  },
  {
    table: 'answer_messages',
    columns: [...ANSWER_MESSAGE_COLUMNS],
    changes: {
      ...tenant,
      id: cloneId('id'),
      turn_id: cloneId('turn_id'),
      // Chats of other people have other ids.
      chat: 'source.chat || clones.code',
    },
  },
  {
    table: 'conversations',
    columns: ['id', 'tenant', 'user_id', 'metadata', 'created_at', 'head'],
    changes: { ...tenant, id: cloneConversation('id'), head: cloneId('head') },
  },
]

/** Copies the rows to clone, so that clones are not cloned. */
export async function keepOriginals(engine: Engine): Promise<void> {
  await engine.write(
    TABLES.map(({ table }) => once(`create table original_${table} as select * from ${table}`)),
  )
}

export async function dropOriginals(engine: Engine): Promise<void> {
  await engine.write(TABLES.map(({ table }) => once(`drop table original_${table}`)))
}

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

function formatCode(number: number): string {
  let rest = number
  let code = ''
  for (let digit = 0; digit < 6; digit += 1) {
    code = (DIGITS[rest % 32] ?? '0') + code
    rest = Math.floor(rest / 32)
  }
  return code
}

function once(sql: string): SqlQuery {
  return { name: null, sql, parameters: [] }
}
