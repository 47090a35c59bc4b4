/** The queries by which requests are kept and found. */
import { sql, type RawBuilder } from 'kysely'
import {
  createSqlCompiler,
  type ParameterSlot,
  type CompiledStatement,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { selectJsonList } from '../database/json-list-parameter.ts'
import { isTurnOfOwner, type ChainKey } from '../turns/turn-statements.ts'
import { REQUEST_COLUMNS, type ItemRow, type RequestRow } from '../database/table-row-types.ts'

export interface UpstreamRequestStatements {
  /** Takes exactly `count` rows, at most MAX_REQUEST_ROWS. */
  readonly insertRequests: (count: number) => CompiledStatement<readonly RequestRow[]>
  /** The rows of a round, and of those that it is told from. */
  readonly requestChain: CompiledStatement<RequestRoundKey>
  /** What stands in front of the answers of turns, for requests that are told by it. */
  readonly itemsBeside: CompiledStatement<TurnItemsKey>
}

export interface TurnItemsKey {
  readonly tenant: string
  /** A JSON list. */
  readonly turnIds: string
}

export type TurnItemRow = Pick<ItemRow, 'turn_id' | 'position' | 'body'>

export interface RequestRoundKey extends ChainKey {
  /** `null` for the last. */
  readonly round: number | null
}

/** With how many rounds there are of the turn that is asked for. */
export interface RequestChainRow extends RequestRow {
  readonly rounds: number
}

/** D1 binds at most 100 values in one statement. */
export const MAX_REQUEST_ROWS = Math.floor(100 / REQUEST_COLUMNS.length)

export function createUpstreamRequestStatements(
  language: Engine['language'],
): UpstreamRequestStatements {
  const query = createSqlCompiler(language)
  const inserts: CompiledStatement<readonly RequestRow[]>[] = []
  return {
    insertRequests: (count) =>
      (inserts[count] ??= query(`insert-requests-${count}`, (slot) => insertRequests(slot, count))),
    requestChain: query('request-chain', requestChain),
    itemsBeside: query('items-beside-requests', (slot) => itemsBeside(language, slot)),
  }
}

const COLUMNS = sql.join(REQUEST_COLUMNS.map((column) => sql.ref(column)))

function insertRequests(
  slot: ParameterSlot<readonly RequestRow[]>,
  count: number,
): RawBuilder<unknown> {
  const rows = Array.from({ length: count }, (_, at) => {
    const values = REQUEST_COLUMNS.map(
      (column) => sql`${slot((rows) => (rows[at] as RequestRow)[column])}`,
    )
    return sql`(${sql.join(values)})`
  })
  return sql`insert into requests (${COLUMNS}) values ${sql.join(rows)} on conflict do nothing`
}

/** Whose it is, its turn says; what it is told from is of the same tenant. */
function requestChain(slot: ParameterSlot<RequestRoundKey>): RawBuilder<unknown> {
  const tenant = slot((key) => key.tenant)
  const last = sql`(select max(newest.round) from requests as newest
    where newest.turn_id = ${slot((key) => key.id)})`
  return sql`with recursive chain(id, round) as (
      select turns.id, coalesce(${slot((key) => key.round)}, ${last})
      from turns where turns.id = ${slot((key) => key.id)}
      and ${isTurnOfOwner(slot)}
    union
      select requests.base, requests.base_round from chain
      join requests on requests.turn_id = chain.id and requests.round = chain.round
      where requests.base is not null and requests.tenant || '' = ${tenant}
    )
    select ${sql.join(REQUEST_COLUMNS.map((column) => sql.ref(`requests.${column}`)))},
      ${last} + 1 as rounds
    from chain join requests on requests.turn_id = chain.id and requests.round = chain.round
    where requests.tenant || '' = ${tenant}
    order by requests.turn_id, requests.round, requests.part, requests.piece`
}

/** Hidden ones as well: what was sent held them. */
function itemsBeside(
  language: Engine['language'],
  slot: ParameterSlot<TurnItemsKey>,
): RawBuilder<unknown> {
  const turnIds = selectJsonList(
    language,
    slot((key) => key.turnIds),
  )
  return sql`select items.turn_id, items.position, items.body from ${turnIds}
    join items on items.turn_id = wanted.value and items.side = 'in'
    where items.tenant || '' = ${slot((key) => key.tenant)}`
}
