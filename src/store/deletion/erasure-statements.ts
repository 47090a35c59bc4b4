/**
 * SQL for deletions in progress (table `erasures`): inserts, claims and ends them, and finds the turns that they
 * cover. `erased-conditions.ts` hides these rows from all other statements.
 */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type CompiledStatement,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { isInJsonList } from '../database/json-list-parameter.ts'
import { DATABASE_TIME } from '../leases/lease-conditions.ts'
import { releaseMedia } from '../media/media-statements.ts'
import { isTurnOfOwner, type OwnedRowKey } from '../owner.ts'
import { withDeletableChain } from './deletable-chain.ts'
import { USER_TABLES, type UserTable } from './erased-conditions.ts'
import {
  selectFromDeletableTurn,
  type ThreadKey,
  type UserKey,
} from './expiry-and-deletion-statements.ts'

export interface ErasureRow {
  readonly id: string
  readonly tenant: string
  readonly kind: 'user' | 'thread' | 'conversation' | 'turn'
  readonly name: string
  readonly user_id: string | null
  readonly requested_at: number
}

/** The key of an erasure, and of the run that deletes what it covers. */
export interface ErasureRun {
  readonly erasureId: string
  readonly runId: string
}

type NewErasure<Key> = Key & ErasureRun & { readonly nowMs: number }

export interface ErasurePage extends ErasureRow {
  readonly afterMs: number
  readonly afterId: string
  readonly limit: number
}

/** If a run does not renew its lease for this time, another run continues. */
export const ERASURE_LEASE_MS = 10_000

export function createErasureStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  const time = DATABASE_TIME[language]
  const insert = <Key extends { readonly tenant: string }>(
    kind: ErasureRow['kind'],
    select: (slot: ParameterSlot<NewErasure<Key>>) => SqlFragment,
  ) =>
    compile<NewErasure<Key>>(`insert-erasure-of-${kind}`, (slot) =>
      insertErasure(slot, { kind, covered: select(slot), time }),
    )
  const tables = Object.keys(USER_TABLES) as readonly UserTable[]
  return {
    /** Each of these statements returns the id of the erasure; no row if there is nothing to delete. */
    insertOfUser: insert<UserKey>(
      'user',
      (slot) =>
        sql`select cast(${slot('user')} as text) as name, cast(${slot('user')} as text) as user_id`,
    ),
    insertOfThread: insert<ThreadKey>(
      'thread',
      (slot) => sql`select found.name, cast(${slot('user')} as text) as user_id
        from (${selectFromDeletableTurn(slot, sql`turns.thread as name`)}) as found`,
    ),
    /** Runs after the statement that deletes the conversation, unless a turn has locked it. */
    insertOfConversation: insert<OwnedRowKey>(
      'conversation',
      (
        slot,
      ) => sql`select cast(${slot('id')} as text) as name, cast(${slot('user')} as text) as user_id
        where not exists (select 1 from conversations where conversations.id = ${slot('id')})
        and exists (select 1 from turns where turns.conversation = ${slot('id')}
          and turns.tenant || '' = ${slot('tenant')}
          and coalesce(turns.user_id, '') = ${slot('user')})`,
    ),
    /** For the turns of a chain that are too many for one transaction. Runs before that transaction deletes any. */
    insertOfTurn: insert<OwnedRowKey>(
      'turn',
      (slot) => sql`select found.id as name, cast(null as text) as user_id
        from (${withDeletableChain(slot, isTurnOfOwner(slot))}
          select deletable.id from deletable where deletable.is_next = 1) as found`,
    ),
    /**
     * A replica with a fast clock may have written rows with a creation time in the future. Sets it to the time of the
     * deletion, which covers rows up to this time and none that are written later.
     */
    limitTimesOfUser: [...tables, 'turns' as const].map((table) => {
      const column = sql.ref(table === 'turns' ? 'created_at' : USER_TABLES[table])
      return compile<UserKey & { readonly nowMs: number }>(
        `limit-times-in-${table}`,
        (slot) => sql`update ${sql.table(table)} set ${column} = ${slot('nowMs')}
          where tenant = ${slot('tenant')} and user_id = ${slot('user')}
          and ${column} > ${slot('nowMs')}`,
      )
    }),
    limitTimesOfThread: compile<ThreadKey & { readonly nowMs: number }>(
      'limit-times-of-thread',
      (
        slot,
      ) => sql`update turns set created_at = ${slot('nowMs')} where turns.tenant = ${slot('tenant')}
        and turns.thread = (select found.name from (
          ${selectFromDeletableTurn(slot, sql`turns.thread as name`)}) as found)
        and turns.created_at > ${slot('nowMs')}
        and (cast(${slot('user')} as text) is null or turns.user_id || '' = ${slot('user')})`,
    ),
    /** Claims an erasure for a run, or renews its lease, and returns its row; no row if another run has it. */
    claim: compile<ErasureRun>(
      'claim-erasure',
      (
        slot,
      ) => sql`update erasures set owner = ${slot('runId')}, owned_until = ${time} + ${sql.lit(ERASURE_LEASE_MS)}
        where id = ${slot('erasureId')} and (owner = ${slot('runId')} or ${isOwnerless(time)})
        returning id, tenant, kind, name, user_id, requested_at`,
    ),
    exists: compile<ErasureRun>(
      'has-erasure',
      (slot) => sql`select 1 from erasures where id = ${slot('erasureId')}`,
    ),
    /** Returns a row if the erasure is over; none if it was requested again meanwhile. */
    end: compile<Pick<ErasureRow, 'id' | 'requested_at'>>(
      'end-erasure',
      (slot) => sql`delete from erasures where id = ${slot('id')}
        and requested_at = ${slot('requested_at')} returning id`,
    ),
    /** For a turn that is too large for one transaction, if it is marked as deleted. */
    insertOfMarkedTurn: compile<Omit<NewErasure<OwnedRowKey>, 'tenant' | 'user'>>(
      'insert-erasure-of-marked-turn',
      (
        slot,
      ) => sql`insert into erasures (id, tenant, kind, name, user_id, requested_at, owner, owned_until)
        select cast(${slot('erasureId')} as text), turns.tenant, 'turn', turns.id, null,
          cast(${slot('nowMs')} as bigint), cast(${slot('runId')} as text),
          ${time} + ${sql.lit(ERASURE_LEASE_MS)}
        from turns where turns.id = ${slot('id')} and turns.deleted_at is not null
        on conflict (tenant, kind, name, coalesce(user_id, '')) do update set requested_at = excluded.requested_at
        returning id`,
    ),
    /** Returns a row for each of the turns that still exists. */
    selectExisting: compile<{ readonly turnIds: string }>(
      'existing-turns',
      (slot) => sql`select turns.id from turns
        where ${isInJsonList(language, sql`turns.id`, slot('turnIds'))}`,
    ),
    selectOwnerless: compile<null>(
      'ownerless-erasures',
      () => sql`select id from erasures where ${isOwnerless(time)} order by id limit 10`,
    ),
    turnsOfUser: compilePage(compile, 'user', (slot) => sql`turns.user_id = ${slot('name')}`),
    turnsOfThread: compilePage(
      compile,
      'thread',
      (slot) => sql`turns.thread = ${slot('name')}
        and (cast(${slot('user_id')} as text) is null or turns.user_id || '' = ${slot('user_id')})`,
    ),
    /** Deletes rows of a user, and returns a row for each. */
    deleteOfUser: Object.fromEntries(
      tables.map((table) => [
        table,
        compile(`erase-${table}`, (slot) => deleteOfUser(table, slot)),
      ]),
    ) as Readonly<Record<UserTable, CompiledStatement<ErasurePage>>>,
    releaseFetchedOfUser: compile<ErasurePage>('release-erased-addresses', (slot) =>
      releaseMedia(sql`select media_addresses.media_id from media_addresses
        where id in (${selectRowsOfUser('media_addresses', slot)})`),
    ),
  }
}

function isOwnerless(time: SqlFragment): SqlFragment {
  // A lease that ends too late was written before the clock went back.
  return sql`(erasures.owner is null or erasures.owned_until <= ${time}
    or erasures.owned_until > ${time} + ${sql.lit(2 * ERASURE_LEASE_MS)})`
}

interface InsertParts {
  readonly kind: ErasureRow['kind']
  /** Selects the columns `name` and `user_id`. */
  readonly covered: SqlFragment
  readonly time: SqlFragment
}

/** Inserts an erasure. If one with the same name exists, extends it to the present. */
function insertErasure<Key extends { readonly tenant: string }>(
  slot: ParameterSlot<NewErasure<Key>>,
  { kind, covered, time }: InsertParts,
): SqlFragment {
  const value = (read: (erasure: NewErasure<{ readonly tenant: string }>) => string | number) =>
    slot((erasure: NewErasure<Key>) => read(erasure))
  return sql`insert into erasures (id, tenant, kind, name, user_id, requested_at, owner, owned_until)
    select cast(${value(({ erasureId }) => erasureId)} as text),
      cast(${value(({ tenant }) => tenant)} as text), ${sql.lit(kind)},
      covered.name, covered.user_id, cast(${value(({ nowMs }) => nowMs)} as bigint),
      cast(${value(({ runId }) => runId)} as text), ${time} + ${sql.lit(ERASURE_LEASE_MS)}
    from (${covered}) as covered where 1 = 1
    on conflict (tenant, kind, name, coalesce(user_id, '')) do update set requested_at =
      case when excluded.requested_at > erasures.requested_at then excluded.requested_at
      else erasures.requested_at end
    returning id`
}

function compilePage(
  compile: ReturnType<typeof createStatementCompiler>,
  kind: 'user' | 'thread',
  isCovered: (slot: ParameterSlot<ErasurePage>) => SqlFragment,
): CompiledStatement<ErasurePage> {
  return compile(
    `erased-turns-of-${kind}`,
    (slot) => sql`select turns.id, turns.created_at, coalesce(turns.bytes, 0) as bytes from turns
      where turns.tenant = ${slot('tenant')} and ${isCovered(slot)}
      and turns.created_at <= ${slot('requested_at')}
      and (turns.created_at, turns.id) > (${slot('afterMs')}, ${slot('afterId')})
      order by turns.created_at, turns.id limit ${slot('limit')}`,
  )
}

function selectRowsOfUser(table: UserTable, slot: ParameterSlot<ErasurePage>): SqlFragment {
  const column = sql.ref(USER_TABLES[table])
  return sql`select id from ${sql.table(table)} where tenant = ${slot('tenant')}
    and user_id = ${slot('name')} and ${column} <= ${slot('requested_at')}
    order by ${column}, id limit ${slot('limit')}`
}

function deleteOfUser(table: UserTable, slot: ParameterSlot<ErasurePage>): SqlFragment {
  return sql`delete from ${sql.table(table)} where id in (${selectRowsOfUser(table, slot)})
    returning id`
}
