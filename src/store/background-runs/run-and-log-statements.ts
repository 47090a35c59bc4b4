/**
 * The queries of a run and its log. Whatever an owner writes is selected from its turn, so that
 * nothing is written once the turn is over or somebody else's.
 */
import { sql, type Expression, type Kysely, type SqlBool } from 'kysely'
import { compile, queryBuilder, type Slot, type Statement } from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import type { OwnerKey } from '../owner.ts'
import type { TurnRowEnding } from '../turns/encode-turn-rows.ts'
import { PAGE_GROUPS } from './run-store-interface.ts'
import {
  calledFor,
  callerOf,
  endingValues,
  isOfOwner,
  TENANT,
  USER,
} from '../turns/turn-statements.ts'
import {
  ITEM_COLUMNS,
  type ItemRow,
  type StreamEventRow,
  type Tables,
} from '../database/table-row-types.ts'

export interface RunStatements {
  readonly insertOpening: Statement<StreamEventRow>
  /** These return a row if the run is the owner's. */
  readonly holdRun: Statement<HoldKey>
  readonly startRun: Statement<HoldKey>
  readonly insertEvents: Statement<HoldKey & StreamEventRow>
  readonly endRun: Statement<HoldKey & TurnRowEnding>
  readonly takeRun: Statement<Taking>
  /** Returns nothing. */
  readonly insertItem: Statement<HoldKey & ItemRow>
  readonly logHead: Statement<LogKey>
  readonly logGroups: Statement<LogKey>
  readonly outPositions: Statement<Omit<HoldKey, 'owner'>>
}

export interface HoldKey {
  readonly id: string
  readonly tenant: string
  readonly owner: string | null
}

export interface Taking extends HoldKey {
  readonly taker: string
}

export interface LogKey extends OwnerKey {
  readonly id: string
  readonly from: number
}

export function createRunStatements(language: Engine['language']): RunStatements {
  const db = queryBuilder(language)
  const isShared = language === 'postgres'
  return {
    insertOpening: compile('insert-opening', (slot) => insertOpening(db, slot)),
    holdRun: compile('hold-run', (slot) => held(db, slot, isShared).select('turns.id')),
    startRun: compile('start-run', (slot) => startRun(db, slot)),
    insertEvents: compile('insert-events', (slot) => insertEvents(db, slot, isShared)),
    endRun: compile('end-run', (slot) => endRun(db, slot)),
    takeRun: compile('take-run', (slot) => takeRun(db, slot)),
    insertItem: compile('insert-run-item', (slot) => insertItem(db, slot, isShared)),
    logHead: compile('log-head', (slot) => logHead(db, slot)),
    logGroups: compile('log-groups', (slot) => logGroups(db, slot)),
    outPositions: compile('out-positions', (slot) => outPositions(db, slot)),
  }
}

/** Written as it stands in the index over the few turns that are not over: or it is not used. */
export const NOT_OVER = sql<SqlBool>`turns.state in ('queued', 'open')`

const idOf = ({ id }: HoldKey): string => id
const tenantOf = ({ tenant }: HoldKey): string => tenant
/** A query has one type for its values, and compares a turn without an owner all the same. */
const ownerOf = ({ owner }: HoldKey): string => owner as string

/**
 * The turn of a run, if it is not over and the owner's. Where writers can meet it is locked, so
 * that of a take-over and a write of the former owner one sees the other.
 */
function held<Key extends HoldKey>(db: Kysely<Tables>, slot: Slot<Key>, isShared: boolean) {
  const turn = db
    .selectFrom('turns')
    .where('turns.id', '=', slot(idOf))
    .where(TENANT, '=', slot(tenantOf))
    .where('turns.owner', '=', slot(ownerOf))
    .where(NOT_OVER)
  return isShared ? turn.forNoKeyUpdate() : turn
}

function update<Key extends HoldKey>(db: Kysely<Tables>, slot: Slot<Key>) {
  return db
    .updateTable('turns')
    .where('id', '=', slot(idOf))
    .where(TENANT, '=', slot(tenantOf))
    .where('owner', 'is not distinct from', slot(ownerOf))
    .where(NOT_OVER)
    .returning('id')
}

function startRun(db: Kysely<Tables>, slot: Slot<HoldKey>) {
  return update(db, slot).set({ state: sql.lit('open') })
}

function takeRun(db: Kysely<Tables>, slot: Slot<Taking>) {
  return update(db, slot).set({ owner: slot(({ taker }) => taker) })
}

function endRun(db: Kysely<Tables>, slot: Slot<HoldKey & TurnRowEnding>) {
  return update(db, slot).set(endingValues(slot))
}

const EVENT_COLUMNS = [
  'turn_id',
  'tenant',
  'first_number',
  'last_number',
  'text',
] as const satisfies readonly (keyof StreamEventRow)[]

/** Of a turn that was not opened there is no log either. */
function insertOpening(db: Kysely<Tables>, slot: Slot<StreamEventRow>) {
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
          TENANT,
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
function insertEvents(db: Kysely<Tables>, slot: Slot<HoldKey & StreamEventRow>, isShared: boolean) {
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

function insertItem(db: Kysely<Tables>, slot: Slot<HoldKey & ItemRow>, isShared: boolean) {
  return db
    .insertInto('items')
    .columns([...ITEM_COLUMNS, 'called_for'])
    .expression(
      held(db, slot, isShared)
        .select((build) =>
          ITEM_COLUMNS.map((column) => build.val(slot((item) => item[column])).as(column)),
        )
        .select(calledFor(slot(callerOf)).as('called_for')),
    )
    .onConflict((conflict) => conflict.doNothing())
}

function logHead(db: Kysely<Tables>, slot: Slot<LogKey>) {
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
    .where(isOfOwner(slot))
}

/**
 * From the group on that holds event `from`. It is looked up by where it begins, which is what the
 * index knows; if there is no such event yet, that is the newest group, and it is left out.
 */
function logGroups(db: Kysely<Tables>, slot: Slot<LogKey>) {
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
        and ${USER} = ${slot((key) => key.user)})`,
    )
    .where('first_number', '>=', begin as unknown as Expression<number>)
    .where('last_number', '>=', from)
    .orderBy('first_number')
    .limit(PAGE_GROUPS)
}

function outPositions(db: Kysely<Tables>, slot: Slot<Omit<HoldKey, 'owner'>>) {
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
