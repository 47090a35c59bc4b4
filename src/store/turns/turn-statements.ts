/** Every query of the store, written once for all databases and compiled once for each. */
import { sql, type Kysely, type RawBuilder, type SqlBool } from 'kysely'
import {
  compile,
  queryBuilder,
  written,
  type Slot,
  type Statement,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { isForgottenSince, userOf, WHOLE_THREAD } from '../deletion/deleted-since-condition.ts'
import { createMediaStatements, type MediaStatements } from '../media/media-statements.ts'
import type { OwnerKey } from '../owner.ts'
import type { TurnRowEnding } from './encode-turn-rows.ts'
import {
  ITEM_COLUMNS,
  TURN_COLUMNS,
  type ItemRow,
  type Tables,
  type TurnRow,
} from '../database/table-row-types.ts'
import { TURN_BYTES } from './turn-size-expression.ts'

export interface Statements {
  /** Nothing, if it is there, or if what it belongs to was forgotten since it was begun. */
  readonly insertTurn: Statement<TurnRow>
  readonly hasTurn: Statement<Pick<TurnRow, 'id' | 'tenant'>>
  /** Takes exactly `count` rows, at most MAX_ROWS. */
  readonly insertItems: (count: number) => Statement<readonly ItemRow[]>
  readonly endTurn: Statement<TurnRowEnding>
  readonly chainTurns: Statement<ChainKey>
  readonly chainItems: Statement<ChainKey>
  readonly ping: Statement<null>
  /** Of what items show. */
  readonly media: MediaStatements
}

export interface ChainKey extends OwnerKey {
  readonly id: string
}

/** D1 binds at most 100 values in one statement, and `calledFor` is one, too. */
export const MAX_ROWS = Math.floor(100 / (ITEM_COLUMNS.length + 1))

/** A chain beyond these is not loaded: it would be more than any model reads or any memory holds. */
export const MAX_CHAIN_TURNS = 10_000
export const MAX_CHAIN_ITEMS = 50_000

export function createStatements(language: Engine['language']): Statements {
  const db = queryBuilder(language)
  const itemInserts: Statement<readonly ItemRow[]>[] = []
  return {
    insertTurn: compile('insert-turn', (slot) => written(db, insertTurn(slot))),
    hasTurn: compile('has-turn', (slot) => written(db, hasTurn(slot))),
    insertItems: (count) =>
      (itemInserts[count] ??= compile(`insert-items-${count}`, (slot) =>
        insertItems(db, slot, count),
      )),
    endTurn: compile('end-turn', (slot) => endTurn(db, slot)),
    chainTurns: compile('chain-turns', (slot) => chainTurns(db, slot)),
    chainItems: compile('chain-items', (slot) => chainItems(db, slot)),
    media: createMediaStatements(language),
    ping: compile('ping', () => db.selectNoFrom((build) => build.lit(1).as('pong'))),
  }
}

function insertTurn(slot: Slot<TurnRow>): RawBuilder<unknown> {
  const isForgotten = isForgottenSince(
    sql`${slot(({ tenant }) => tenant)}`,
    [userOf(slot), sql`${slot(({ thread }) => WHOLE_THREAD + thread)}`],
    slot(({ created_at: begunAtMs }) => begunAtMs),
  )
  return sql`insert into turns (${sql.join(TURN_COLUMNS.map((column) => sql.ref(column)))})
    select ${sql.join(TURN_COLUMNS.map((column) => slot((turn) => turn[column])))}
    where not ${isForgotten} on conflict do nothing returning id`
}

function hasTurn(slot: Slot<Pick<TurnRow, 'id' | 'tenant'>>): RawBuilder<unknown> {
  return sql`select 1 from turns where turns.id = ${slot(({ id }) => id)}
    and ${TENANT} = ${slot(({ tenant }) => tenant)}`
}

function insertItems(db: Kysely<Tables>, slot: Slot<readonly ItemRow[]>, count: number) {
  const rows = Array.from({ length: count }, (_, at) => {
    const row = (items: readonly ItemRow[]) => items[at] as ItemRow
    const columns = ITEM_COLUMNS.map((column) => [column, slot((items) => row(items)[column])])
    return {
      ...(Object.fromEntries(columns) as unknown as ItemRow),
      called_for: calledFor(slot((items) => callerOf(row(items)))),
    }
  })
  return db
    .insertInto('items')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
}

/** The turn of a call that a model made. What only answers a call has its id as well. */
export function callerOf({ side, call_id: callId, turn_id: turnId }: ItemRow): string | null {
  return side === 'out' && callId !== null ? turnId : null
}

/** Whose the turn is that made a call. */
export function calledFor(turnId: string | null): RawBuilder<string | null> {
  return sql`(select ${USER} from turns where turns.id = ${turnId})`
}

/**
 * A turn is found by its id, and its tenant is only compared. As a bare column it would invite a
 * planner that has no statistics to go through all turns of the tenant by an index of theirs.
 */
export const TENANT = sql<string>`turns.tenant || ''`

/** Nobody is the empty text, so that one comparison tells whose a turn is. */
export const USER = sql<string>`coalesce(turns.user_id, '')`

/** Whether a turn is theirs who ask: of their tenant, and within it of their user. */
export function isOfOwner(slot: Slot<OwnerKey>): RawBuilder<SqlBool> {
  return sql`${TENANT} = ${slot(({ tenant }) => tenant)} and ${USER} = ${slot(({ user }) => user)}`
}

/** What is written of a turn when it ends, behind its last items. */
export function endingValues<Input extends TurnRowEnding>(slot: Slot<Input>) {
  return {
    state: slot((turn) => turn.state),
    wire: slot((turn) => turn.wire),
    account: slot((turn) => turn.account),
    model: slot((turn) => turn.model),
    ended_at: slot((turn) => turn.ended_at),
    usage: slot((turn) => turn.usage),
    failure: slot((turn) => turn.failure),
    finish: slot((turn) => turn.finish),
    served_model: slot((turn) => turn.served_model),
    content_hash: slot((turn) => turn.content_hash),
    prefix_hash: slot((turn) => turn.prefix_hash),
    fingerprint: slot((turn) => turn.fingerprint),
    reasoning_refused_by: slot((turn) => turn.reasoning_refused_by),
    bytes: TURN_BYTES,
  }
}

function endTurn(db: Kysely<Tables>, slot: Slot<TurnRowEnding>) {
  return db
    .updateTable('turns')
    .set(endingValues(slot))
    .where(
      'id',
      '=',
      slot((turn) => turn.id),
    )
    .where(
      TENANT,
      '=',
      slot((turn) => turn.tenant),
    )
    .where('state', 'in', ['queued', 'open'])
    .returning('id')
}

/** Unordered, and a turn knows its parent: whoever asks puts them in line. */
function chainTurns(db: Kysely<Tables>, slot: Slot<ChainKey>) {
  return withChain(db, slot)
    .selectFrom('chain')
    .innerJoin('turns', 'turns.id', 'chain.id')
    .select(TURN_COLUMNS.map((column) => `turns.${column}` as const))
    .limit(MAX_CHAIN_TURNS + 1)
}

/** Unordered: sorting the bodies costs a database more than sorting the positions costs us. */
function chainItems(db: Kysely<Tables>, slot: Slot<ChainKey>) {
  return withChain(db, slot)
    .selectFrom('chain')
    .innerJoin('items', 'items.turn_id', 'chain.id')
    .select(['items.turn_id', 'items.side', 'items.position', 'items.body', 'items.hidden'])
    .limit(MAX_CHAIN_ITEMS + 1)
}

/**
 * From a turn up to its root, through turns of its owner only. It is `union` and not `union all`:
 * in a circle of turns there is nothing new any more, and the walk ends.
 */
function withChain(db: Kysely<Tables>, slot: Slot<ChainKey>) {
  return db.withRecursive('chain(id, parent)', (chain) =>
    chain
      .selectFrom('turns')
      .select(['turns.id', 'turns.parent'])
      .where(
        'turns.id',
        '=',
        slot((key) => key.id),
      )
      .where(isOfOwner(slot))
      .union((up) =>
        up
          .selectFrom('chain')
          .innerJoin('turns', 'turns.id', 'chain.parent')
          .select(['turns.id', 'turns.parent'])
          .where(isOfOwner(slot)),
      ),
  )
}
