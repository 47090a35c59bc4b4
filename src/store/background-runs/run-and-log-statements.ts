/**
 * SQL for background runs and their event logs. Each write requires that the turn is unfinished and
 * belongs to the replica that writes. So a replica writes nothing after the turn has ended or
 * another replica has claimed the run.
 */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { isTurnErased, selectDeletedAt } from '../deletion/erased-conditions.ts'
import type { ExpectedTime } from '../leases/database-clock.ts'
import { isTurnOfOwner, TURN_TENANT, TURN_USER, type OwnedRowKey } from '../owner.ts'
import type { TurnRowEnding } from '../turns/encode-turn-rows.ts'
import { IS_RUN_UNFINISHED, isRunOrphaned } from './orphan-condition.ts'
import { MAX_PAGE_GROUPS } from './run-store-interface.ts'
import { insertPieceFrom } from '../pieces/text-piece-statements.ts'
import { assignTurnEnding } from '../turns/turn-statements.ts'
import {
  amendItem,
  findCallingTurnId,
  INSERTED_ITEM_COLUMNS,
  selectUserOfTurn,
} from '../turns/write-item-statements.ts'
import {
  ITEM_COLUMNS,
  STREAM_EVENT_COLUMNS,
  type ItemRow,
  type StreamEventRow,
  type TextPieceRow,
} from '../database/table-row-types.ts'

export interface OwnedRunKey {
  readonly id: string
  readonly tenant: string
  readonly replicaId: string | null
}

export interface RunLogKey extends OwnedRowKey {
  readonly fromEvent: number
}

export type RunAndLogStatements = ReturnType<typeof createRunAndLogStatements>

export function createRunAndLogStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  return {
    insertOpening: compile('insert-opening', insertOpening),
    /** This and the next five statements return a row only if the replica owns the run. */
    selectOwnedRun: compile<OwnedRunKey>(
      'select-owned-run',
      (slot) => sql`select turns.id ${fromOwnedTurn(slot, language)}`,
    ),
    startRun: compile<OwnedRunKey>('start-run', (slot) =>
      updateRun(slot, sql`state = 'open', starts = starts + 1`),
    ),
    requeueRun: compile<OwnedRunKey>('requeue-run', (slot) =>
      updateRun(slot, sql`state = 'queued', starts = starts - 1`),
    ),
    insertEvents: compile<OwnedRunKey & StreamEventRow>('insert-events', (slot) =>
      insertEvents(slot, language),
    ),
    endRun: compile<OwnedRunKey & TurnRowEnding>('end-run', (slot) =>
      updateRun(slot, assignTurnEnding(slot)),
    ),
    claimRun: compile<OwnedRunKey & { readonly newOwner: string }>('claim-run', (slot) =>
      updateRun(slot, sql`owner = ${slot('newOwner')}`),
    ),
    /** Inserts an item if the replica owns the run. Returns no rows. */
    insertItem: compile<OwnedRunKey & ItemRow>('insert-run-item', (slot) =>
      insertItem(slot, language),
    ),
    /** Replaces the body of an output item if the replica owns the run. Returns no rows. */
    amendItem: compile<OwnedRunKey & ItemRow>('amend-run-item', (slot) =>
      amendItem(slot, fromOwnedTurn(slot, language)),
    ),
    /** Inserts a piece of an item or of events, or replaces it, if the replica owns the run. Returns no rows. */
    insertPiece: compile<OwnedRunKey & TextPieceRow>('insert-run-piece', (slot) =>
      insertPieceFrom(slot, fromOwnedTurn(slot, language)),
    ),
    selectRunState: compile<RunLogKey & ExpectedTime>('log-head', (slot) =>
      selectRunState(slot, language),
    ),
    selectLogGroups: compile('log-groups', selectLogGroups),
    selectOutputPositions: compile<Omit<OwnedRunKey, 'replicaId'>>(
      'out-positions',
      (slot) => sql`select position from items where turn_id = ${slot('id')}
        and items.tenant || '' = ${slot('tenant')} and side = 'out'`,
    ),
  }
}

/**
 * Selects the turn of a run if the turn is unfinished and belongs to the replica. On Postgres, also
 * locks the row, so that a write and a claim by another replica wait for each other.
 */
function fromOwnedTurn(
  slot: ParameterSlot<OwnedRunKey>,
  language: Engine['language'],
): SqlFragment {
  return sql`from turns where turns.id = ${slot('id')} and ${TURN_TENANT} = ${slot('tenant')}
    and turns.owner = ${slot('replicaId')} and ${IS_RUN_UNFINISHED} and not ${isTurnErased()}
    ${language === 'postgres' ? sql`for no key update` : sql``}`
}

function updateRun(slot: ParameterSlot<OwnedRunKey>, assignments: SqlFragment): SqlFragment {
  return sql`update turns set ${assignments}
    where turns.id = ${slot('id')} and ${TURN_TENANT} = ${slot('tenant')}
    and turns.owner is not distinct from ${slot('replicaId')} and ${IS_RUN_UNFINISHED}
    and not ${isTurnErased()} returning id`
}

/**
 * Builds `insert into stream_events … select …`; the caller adds the `from` clause with the
 * condition.
 */
function insertEventRow(slot: ParameterSlot<StreamEventRow>): SqlFragment {
  return sql`insert into stream_events (${sql.join(STREAM_EVENT_COLUMNS.map((name) => sql.ref(name)))})
    select ${sql.join(STREAM_EVENT_COLUMNS.map((name) => slot(name)))}`
}

/** Inserts the first event group of a run, or nothing if the turn was not created. */
function insertOpening(slot: ParameterSlot<StreamEventRow>): SqlFragment {
  return sql`${insertEventRow(slot)} from turns where turns.id = ${slot('turn_id')}
    and ${TURN_TENANT} = ${slot('tenant')} on conflict do nothing`
}

/**
 * Inserts a group of events, or replaces the group with the same first event. If a write is repeated
 * because its response was lost, the second attempt may contain more events than the first.
 */
function insertEvents(
  slot: ParameterSlot<OwnedRunKey & StreamEventRow>,
  language: Engine['language'],
): SqlFragment {
  return sql`${insertEventRow(slot)} ${fromOwnedTurn(slot, language)}
    on conflict (turn_id, first_number) do update
    set last_number = excluded.last_number, text = excluded.text returning turn_id`
}

function insertItem(
  slot: ParameterSlot<OwnedRunKey & ItemRow>,
  language: Engine['language'],
): SqlFragment {
  return sql`insert into items (${INSERTED_ITEM_COLUMNS})
    select ${sql.join(ITEM_COLUMNS.map((name) => slot(name)))},
      ${selectUserOfTurn(slot(findCallingTurnId))}
    ${fromOwnedTurn(slot, language)} on conflict do nothing`
}

function selectRunState(
  slot: ParameterSlot<RunLogKey & ExpectedTime>,
  language: Engine['language'],
): SqlFragment {
  return sql`select turns.dialect, turns.wire, turns.account, turns.model, turns.prefix_hash,
      turns.conversation, turns.state, turns.background, turns.owner, turns.created_at,
      ${selectDeletedAt()} as deleted_at, turns.starts,
      case when ${isRunOrphaned(slot, language)} then 1 else 0 end as orphaned,
      (select min(stream_events.first_number) from stream_events
        where stream_events.turn_id = turns.id) as first_number
    from turns left join replicas on replicas.id = turns.owner
    where turns.id = ${slot('id')} and ${isTurnOfOwner(slot)}`
}

/**
 * Selects the event groups from event `fromEvent` on. The index contains only the first event of
 * each group. So the query begins with the last group that begins at or before `fromEvent`, and
 * leaves that group out if it ends before `fromEvent`.
 */
function selectLogGroups(slot: ParameterSlot<RunLogKey>): SqlFragment {
  return sql`select first_number, last_number, text from stream_events
    where turn_id = ${slot('id')} and tenant = ${slot('tenant')}
    and exists (select 1 from turns where turns.id = ${slot('id')} and ${TURN_USER} = ${slot('user')}
      and not ${isTurnErased()})
    and first_number >= (
      select max(earlier.first_number) from stream_events as earlier
      where earlier.turn_id = ${slot('id')} and earlier.first_number <= ${slot('fromEvent')})
    and last_number >= ${slot('fromEvent')}
    order by first_number limit ${sql.lit(MAX_PAGE_GROUPS)}`
}
