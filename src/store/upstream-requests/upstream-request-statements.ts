/** SQL for requests that were sent to upstreams. */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type CompiledStatement,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { isTurnOfOwner, type OwnedRowKey } from '../owner.ts'
import { selectJsonList } from '../database/json-list-parameter.ts'
import { REQUEST_COLUMNS, type ItemRow, type RequestRow } from '../database/table-row-types.ts'

export interface TurnItemsKey {
  readonly tenant: string
  /** A JSON list of ids. */
  readonly turnIds: string
}

/** An input item of a turn. Requests refer to parts of its `body` instead of repeating them. */
export type InputItemRow = Pick<ItemRow, 'turn_id' | 'position' | 'body'> & {
  readonly side: 'in'
}

export interface RequestRoundKey extends OwnedRowKey {
  /** Number of the tool round; `null` for the last. */
  readonly round: number | null
}

export interface RequestChainRow extends RequestRow {
  /** Number of tool rounds of the requested turn. */
  readonly rounds: number
}

/** Maximum number of rows in one insert: D1 binds at most 100 parameters in a statement. */
export const MAX_REQUEST_ROWS = Math.floor(100 / REQUEST_COLUMNS.length)

export function createUpstreamRequestStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  const inserts: CompiledStatement<readonly RequestRow[]>[] = []
  return {
    /** Returns the statement that inserts exactly `count` rows, at most `MAX_REQUEST_ROWS`. */
    insertRequests: (count: number) =>
      (inserts[count] ??= compile(`insert-requests-${count}`, (slot) =>
        insertRequests(slot, count),
      )),
    /**
     * Returns the rows of one tool round's request, and of the earlier requests that it is stored
     * as a difference to, in any order.
     */
    selectRequestChain: compile('request-chain', selectRequestChain),
    /** Returns the input items of turns whose requests contain copies of them. */
    selectInputItems: compile<TurnItemsKey>('items-beside-requests', (slot) =>
      selectInputItems(language, slot),
    ),
  }
}

const COLUMNS = sql.join(REQUEST_COLUMNS.map((column) => sql.ref(column)))

function insertRequests(slot: ParameterSlot<readonly RequestRow[]>, count: number): SqlFragment {
  const rows = Array.from({ length: count }, (_, index) => {
    const values = REQUEST_COLUMNS.map(
      (column) => sql`${slot((rows) => (rows[index] as RequestRow)[column])}`,
    )
    return sql`(${sql.join(values)})`
  })
  return sql`insert into requests (${COLUMNS}) values ${sql.join(rows)} on conflict do nothing`
}

/**
 * Selects the rows of the requests of a chain, unsorted. The requested turn must belong to the owner; the
 * turns of the earlier requests must only belong to the same tenant. With `cross join`, SQLite begins with
 * the chain; with another join or an order it might read all requests in the order of their primary key.
 */
function selectRequestChain(slot: ParameterSlot<RequestRoundKey>): SqlFragment {
  const tenant = slot('tenant')
  const last = sql`(select max(latest.round) from requests as latest
    where latest.turn_id = ${slot('id')})`
  return sql`with recursive chain(id, round) as (
      select turns.id, coalesce(${slot('round')}, ${last})
      from turns where turns.id = ${slot('id')}
      and ${isTurnOfOwner(slot)}
    union
      select requests.base, requests.base_round from chain cross join requests
      where requests.turn_id = chain.id and requests.round = chain.round
      and requests.base is not null and requests.tenant || '' = ${tenant}
    )
    select ${sql.join(REQUEST_COLUMNS.map((column) => sql.ref(`requests.${column}`)))},
      ${last} + 1 as rounds
    from chain cross join requests
    where requests.turn_id = chain.id and requests.round = chain.round
    and requests.tenant || '' = ${tenant}`
}

/**
 * Selects the input items of the turns. Includes hidden items, because the requests contained them. The
 * concatenation with an empty text keeps planners from reading the input items of all turns.
 */
function selectInputItems(
  language: Engine['language'],
  slot: ParameterSlot<TurnItemsKey>,
): SqlFragment {
  const turnIds = selectJsonList(language, slot('turnIds'))
  return sql`select items.turn_id, items.side, items.position, items.body from ${turnIds} cross join items
    where items.turn_id = wanted.value and items.side || '' = 'in'
    and items.tenant || '' = ${slot('tenant')}`
}
