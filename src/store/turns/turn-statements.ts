/** Every query of the store, written once for all databases and compiled once for each. */
import { sql, type Kysely, type RawBuilder, type SqlBool } from 'kysely'
import {
  compileStatement,
  createQueryBuilder,
  toCompilable,
  type ParameterSlot,
  type CompiledStatement,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import {
  isDeletedSince,
  selectUserDeletionName,
  THREAD_DELETION_PREFIX,
} from '../deletion/deleted-since-condition.ts'
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
import { TURN_SIZE_BYTES } from './turn-size-expression.ts'

export interface TurnStatements {
  /** Nothing, if it is there, or if what it belongs to was forgotten since it was begun. */
  readonly insertTurn: CompiledStatement<TurnRow>
  readonly hasTurn: CompiledStatement<Pick<TurnRow, 'id' | 'tenant'>>
  /** Takes exactly `count` rows, at most MAX_ROWS. */
  readonly insertItems: (count: number) => CompiledStatement<readonly ItemRow[]>
  readonly endTurn: CompiledStatement<TurnRowEnding>
  readonly chainTurns: CompiledStatement<ChainKey>
  readonly chainItems: CompiledStatement<ChainKey>
  readonly ping: CompiledStatement<null>
  /** Of what items show. */
  readonly media: MediaStatements
}

export interface ChainKey extends OwnerKey {
  readonly id: string
}

/** D1 binds at most 100 values in one statement, and `selectCallOwner` is one, too. */
export const MAX_ITEM_ROWS = Math.floor(100 / (ITEM_COLUMNS.length + 1))

/** A chain beyond these is not loaded: it would be more than any model reads or any memory holds. */
export const MAX_CHAIN_TURNS = 10_000
export const MAX_CHAIN_ITEMS = 50_000

export function createTurnStatements(language: Engine['language']): TurnStatements {
  const db = createQueryBuilder(language)
  const itemInserts: CompiledStatement<readonly ItemRow[]>[] = []
  return {
    insertTurn: compileStatement('insert-turn', (slot) => toCompilable(db, insertTurn(slot))),
    hasTurn: compileStatement('has-turn', (slot) => toCompilable(db, hasTurn(slot))),
    insertItems: (count) =>
      (itemInserts[count] ??= compileStatement(`insert-items-${count}`, (slot) =>
        insertItems(db, slot, count),
      )),
    endTurn: compileStatement('end-turn', (slot) => endTurn(db, slot)),
    chainTurns: compileStatement('chain-turns', (slot) => chainTurns(db, slot)),
    chainItems: compileStatement('chain-items', (slot) => chainItems(db, slot)),
    media: createMediaStatements(language),
    ping: compileStatement('ping', () => db.selectNoFrom((build) => build.lit(1).as('pong'))),
  }
}

function insertTurn(slot: ParameterSlot<TurnRow>): RawBuilder<unknown> {
  const isForgotten = isDeletedSince(
    sql`${slot(({ tenant }) => tenant)}`,
    [selectUserDeletionName(slot), sql`${slot(({ thread }) => THREAD_DELETION_PREFIX + thread)}`],
    slot(({ created_at: begunAtMs }) => begunAtMs),
  )
  return sql`insert into turns (${sql.join(TURN_COLUMNS.map((column) => sql.ref(column)))})
    select ${sql.join(TURN_COLUMNS.map((column) => slot((turn) => turn[column])))}
    where not ${isForgotten} on conflict do nothing returning id`
}

function hasTurn(slot: ParameterSlot<Pick<TurnRow, 'id' | 'tenant'>>): RawBuilder<unknown> {
  return sql`select 1 from turns where turns.id = ${slot(({ id }) => id)}
    and ${TURN_TENANT} = ${slot(({ tenant }) => tenant)}`
}

function insertItems(db: Kysely<Tables>, slot: ParameterSlot<readonly ItemRow[]>, count: number) {
  const rows = Array.from({ length: count }, (_, at) => {
    const row = (items: readonly ItemRow[]) => items[at] as ItemRow
    const columns = ITEM_COLUMNS.map((column) => [column, slot((items) => row(items)[column])])
    return {
      ...(Object.fromEntries(columns) as unknown as ItemRow),
      called_for: selectCallOwner(slot((items) => findCallingTurnId(row(items)))),
    }
  })
  return db
    .insertInto('items')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
}

/** The turn of a call that a model made. What only answers a call has its id as well. */
export function findCallingTurnId({
  side,
  call_id: callId,
  turn_id: turnId,
}: ItemRow): string | null {
  return side === 'out' && callId !== null ? turnId : null
}

/** Whose the turn is that made a call. */
export function selectCallOwner(turnId: string | null): RawBuilder<string | null> {
  return sql`(select ${TURN_USER} from turns where turns.id = ${turnId})`
}

/**
 * A turn is found by its id, and its tenant is only compared. As a bare column it would invite a
 * planner that has no statistics to go through all turns of the tenant by an index of theirs.
 */
export const TURN_TENANT = sql<string>`turns.tenant || ''`

/** Nobody is the empty text, so that one comparison tells whose a turn is. */
export const TURN_USER = sql<string>`coalesce(turns.user_id, '')`

/** Whether a turn is theirs who ask: of their tenant, and within it of their user. */
export function isTurnOfOwner(slot: ParameterSlot<OwnerKey>): RawBuilder<SqlBool> {
  return sql`${TURN_TENANT} = ${slot(({ tenant }) => tenant)} and ${TURN_USER} = ${slot(({ user }) => user)}`
}

/** What is written of a turn when it ends, behind its last items. */
export function turnEndingValues<Input extends TurnRowEnding>(slot: ParameterSlot<Input>) {
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
    bytes: TURN_SIZE_BYTES,
  }
}

function endTurn(db: Kysely<Tables>, slot: ParameterSlot<TurnRowEnding>) {
  return db
    .updateTable('turns')
    .set(turnEndingValues(slot))
    .where(
      'id',
      '=',
      slot((turn) => turn.id),
    )
    .where(
      TURN_TENANT,
      '=',
      slot((turn) => turn.tenant),
    )
    .where('state', 'in', ['queued', 'open'])
    .returning('id')
}

/** Unordered, and a turn knows its parent: whoever asks puts them in line. */
function chainTurns(db: Kysely<Tables>, slot: ParameterSlot<ChainKey>) {
  return withChain(db, slot)
    .selectFrom('chain')
    .innerJoin('turns', 'turns.id', 'chain.id')
    .select(TURN_COLUMNS.map((column) => `turns.${column}` as const))
    .limit(MAX_CHAIN_TURNS + 1)
}

/** Unordered: sorting the bodies costs a database more than sorting the positions costs us. */
function chainItems(db: Kysely<Tables>, slot: ParameterSlot<ChainKey>) {
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
function withChain(db: Kysely<Tables>, slot: ParameterSlot<ChainKey>) {
  return db.withRecursive('chain(id, parent)', (chain) =>
    chain
      .selectFrom('turns')
      .select(['turns.id', 'turns.parent'])
      .where(
        'turns.id',
        '=',
        slot((key) => key.id),
      )
      .where(isTurnOfOwner(slot))
      .union((up) =>
        up
          .selectFrom('chain')
          .innerJoin('turns', 'turns.id', 'chain.parent')
          .select(['turns.id', 'turns.parent'])
          .where(isTurnOfOwner(slot)),
      ),
  )
}
