/**
 * The queries of a run and its log. Whatever an owner writes is selected from its turn, so that
 * nothing is written once the turn is over or somebody else's.
 */
import { sql, type Expression, type Kysely, type SqlBool } from 'kysely'
import {
  compileStatement,
  createQueryBuilder,
  type ParameterSlot,
  type CompiledStatement,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import type { OwnerKey } from '../owner.ts'
import type { TurnRowEnding } from '../turns/encode-turn-rows.ts'
import { MAX_PAGE_GROUPS } from './run-store-interface.ts'
import {
  selectCallOwner,
  findCallingTurnId,
  turnEndingValues,
  isTurnOfOwner,
  TURN_TENANT,
  TURN_USER,
} from '../turns/turn-statements.ts'
import {
  ITEM_COLUMNS,
  type ItemRow,
  type StreamEventRow,
  type Tables,
} from '../database/table-row-types.ts'

export interface RunAndLogStatements {
  readonly insertOpening: CompiledStatement<StreamEventRow>
  /** These return a row if the run is the owner's. */
  readonly holdRun: CompiledStatement<RunHoldKey>
  readonly startRun: CompiledStatement<RunHoldKey>
  readonly insertEvents: CompiledStatement<RunHoldKey & StreamEventRow>
  readonly endRun: CompiledStatement<RunHoldKey & TurnRowEnding>
  readonly takeRun: CompiledStatement<RunTakeover>
  /** Returns nothing. */
  readonly insertItem: CompiledStatement<RunHoldKey & ItemRow>
  readonly logHead: CompiledStatement<RunLogKey>
  readonly logGroups: CompiledStatement<RunLogKey>
  readonly outPositions: CompiledStatement<Omit<RunHoldKey, 'owner'>>
}

export interface RunHoldKey {
  readonly id: string
  readonly tenant: string
  readonly owner: string | null
}

export interface RunTakeover extends RunHoldKey {
  readonly taker: string
}

export interface RunLogKey extends OwnerKey {
  readonly id: string
  readonly from: number
}

export function createRunAndLogStatements(language: Engine['language']): RunAndLogStatements {
  const db = createQueryBuilder(language)
  const isShared = language === 'postgres'
  return {
    insertOpening: compileStatement('insert-opening', (slot) => insertOpening(db, slot)),
    holdRun: compileStatement('hold-run', (slot) => held(db, slot, isShared).select('turns.id')),
    startRun: compileStatement('start-run', (slot) => startRun(db, slot)),
    insertEvents: compileStatement('insert-events', (slot) => insertEvents(db, slot, isShared)),
    endRun: compileStatement('end-run', (slot) => endRun(db, slot)),
    takeRun: compileStatement('take-run', (slot) => takeRun(db, slot)),
    insertItem: compileStatement('insert-run-item', (slot) => insertItem(db, slot, isShared)),
    logHead: compileStatement('log-head', (slot) => logHead(db, slot)),
    logGroups: compileStatement('log-groups', (slot) => logGroups(db, slot)),
    outPositions: compileStatement('out-positions', (slot) => outPositions(db, slot)),
  }
}

/** Written as it stands in the index over the few turns that are not over: or it is not used. */
export const IS_RUN_UNFINISHED = sql<SqlBool>`turns.state in ('queued', 'open')`

const idOf = ({ id }: RunHoldKey): string => id
const tenantOf = ({ tenant }: RunHoldKey): string => tenant
/** A query has one type for its values, and compares a turn without an owner all the same. */
const ownerOf = ({ owner }: RunHoldKey): string => owner as string

/**
 * The turn of a run, if it is not over and the owner's. Where writers can meet it is locked, so
 * that of a take-over and a write of the former owner one sees the other.
 */
function held<Key extends RunHoldKey>(
  db: Kysely<Tables>,
  slot: ParameterSlot<Key>,
  isShared: boolean,
) {
  const turn = db
    .selectFrom('turns')
    .where('turns.id', '=', slot(idOf))
    .where(TURN_TENANT, '=', slot(tenantOf))
    .where('turns.owner', '=', slot(ownerOf))
    .where(IS_RUN_UNFINISHED)
  return isShared ? turn.forNoKeyUpdate() : turn
}

function update<Key extends RunHoldKey>(db: Kysely<Tables>, slot: ParameterSlot<Key>) {
  return db
    .updateTable('turns')
    .where('id', '=', slot(idOf))
    .where(TURN_TENANT, '=', slot(tenantOf))
    .where('owner', 'is not distinct from', slot(ownerOf))
    .where(IS_RUN_UNFINISHED)
    .returning('id')
}

function startRun(db: Kysely<Tables>, slot: ParameterSlot<RunHoldKey>) {
  return update(db, slot).set({ state: sql.lit('open') })
}

function takeRun(db: Kysely<Tables>, slot: ParameterSlot<RunTakeover>) {
  return update(db, slot).set({ owner: slot(({ taker }) => taker) })
}

function endRun(db: Kysely<Tables>, slot: ParameterSlot<RunHoldKey & TurnRowEnding>) {
  return update(db, slot).set(turnEndingValues(slot))
}

const EVENT_COLUMNS = [
  'turn_id',
  'tenant',
  'first_number',
  'last_number',
  'text',
] as const satisfies readonly (keyof StreamEventRow)[]

/** Of a turn that was not opened there is no log either. */
function insertOpening(db: Kysely<Tables>, slot: ParameterSlot<StreamEventRow>) {
  return db
    .insertInto('stream_events')
    .columns(EVENT_COLUMNS)
    .expression(
      db
        .selectFrom('turns')
        .where(
          'turns.id',
          '=',
          slot((events) => events.turn_id),
        )
        .where(
          TURN_TENANT,
          '=',
          slot((events) => events.tenant),
        )
        .select((build) =>
          EVENT_COLUMNS.map((column) => build.val(slot((events) => events[column])).as(column)),
        ),
    )
    .onConflict((conflict) => conflict.doNothing())
}

/** A write that is repeated, because its answer was lost, may hold more by then. */
function insertEvents(
  db: Kysely<Tables>,
  slot: ParameterSlot<RunHoldKey & StreamEventRow>,
  isShared: boolean,
) {
  return db
    .insertInto('stream_events')
    .columns(EVENT_COLUMNS)
    .expression(
      held(db, slot, isShared).select((build) =>
        EVENT_COLUMNS.map((column) => build.val(slot((events) => events[column])).as(column)),
      ),
    )
    .onConflict((conflict) =>
      conflict.columns(['turn_id', 'first_number']).doUpdateSet((build) => ({
        last_number: build.ref('excluded.last_number'),
        text: build.ref('excluded.text'),
      })),
    )
    .returning('turn_id')
}

function insertItem(
  db: Kysely<Tables>,
  slot: ParameterSlot<RunHoldKey & ItemRow>,
  isShared: boolean,
) {
  return db
    .insertInto('items')
    .columns([...ITEM_COLUMNS, 'called_for'])
    .expression(
      held(db, slot, isShared)
        .select((build) =>
          ITEM_COLUMNS.map((column) => build.val(slot((item) => item[column])).as(column)),
        )
        .select(selectCallOwner(slot(findCallingTurnId)).as('called_for')),
    )
    .onConflict((conflict) => conflict.doNothing())
}

function logHead(db: Kysely<Tables>, slot: ParameterSlot<RunLogKey>) {
  return db
    .selectFrom('turns')
    .leftJoin('replicas', 'replicas.id', 'turns.owner')
    .select([
      'turns.dialect',
      'turns.wire',
      'turns.account',
      'turns.model',
      'turns.prefix_hash',
      'turns.conversation',
      'turns.state',
      'turns.background',
      'turns.owner',
      'turns.created_at',
      'turns.deleted_at',
      'replicas.alive_until',
    ])
    .select((build) =>
      build
        .selectFrom('stream_events')
        .select((build) => build.fn.min('stream_events.first_number').as('first'))
        .whereRef('stream_events.turn_id', '=', 'turns.id')
        .as('first_number'),
    )
    .where(
      'turns.id',
      '=',
      slot(({ id }) => id),
    )
    .where(isTurnOfOwner(slot))
}

/**
 * From the group on that holds event `from`. It is looked up by where it begins, which is what the
 * index knows; if there is no such event yet, that is the newest group, and it is left out.
 */
function logGroups(db: Kysely<Tables>, slot: ParameterSlot<RunLogKey>) {
  const id = slot((key) => key.id)
  const from = slot((key) => key.from)
  const begin = db
    .selectFrom('stream_events as earlier')
    .select((build) => build.fn.max('earlier.first_number').as('first'))
    .where('earlier.turn_id', '=', id)
    .where('earlier.first_number', '<=', from)
  return db
    .selectFrom('stream_events')
    .select(['first_number', 'last_number', 'text'])
    .where('turn_id', '=', id)
    .where(
      'tenant',
      '=',
      slot((key) => key.tenant),
    )
    .where(
      sql<SqlBool>`exists (select 1 from turns where turns.id = ${id}
        and ${TURN_USER} = ${slot((key) => key.user)})`,
    )
    .where('first_number', '>=', begin as unknown as Expression<number>)
    .where('last_number', '>=', from)
    .orderBy('first_number')
    .limit(MAX_PAGE_GROUPS)
}

function outPositions(db: Kysely<Tables>, slot: ParameterSlot<Omit<RunHoldKey, 'owner'>>) {
  return db
    .selectFrom('items')
    .select('position')
    .where(
      'turn_id',
      '=',
      slot(({ id }) => id),
    )
    .where(
      sql<string>`items.tenant || ''`,
      '=',
      slot(({ tenant }) => tenant),
    )
    .where('side', '=', sql.lit('out'))
}
