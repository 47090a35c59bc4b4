/** The queries of conversations. A change that depends on who holds one says so in its condition. */
import { sql, type Kysely, type RawBuilder, type SqlBool } from 'kysely'
import {
  compileStatement,
  createQueryBuilder,
  toCompilable,
  type ParameterSlot,
  type CompiledStatement,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import type { OwnerKey } from '../owner.ts'
import { isTurnOfOwner, TURN_TENANT, TURN_USER } from '../turns/turn-statements.ts'
import type { ConversationRow, Tables } from '../database/table-row-types.ts'

export interface ConversationStatements {
  readonly insertConversation: CompiledStatement<ConversationRow>
  readonly findConversation: CompiledStatement<ConversationKey>
  readonly relabelConversation: CompiledStatement<ConversationKey & { readonly metadata: string }>
  readonly setContext: CompiledStatement<ConversationKey & { readonly context: string | null }>
  readonly resetConversation: CompiledStatement<ConversationKey>
  /** These return a row if the conversation was there, and free. */
  readonly deleteConversation: CompiledStatement<ConversationKey & QueryTime>
  readonly holdConversation: CompiledStatement<ConversationHolding>
  readonly renewHold: CompiledStatement<ConversationHolding>
  readonly letGo: CompiledStatement<ConversationHolderKey>
  /** Makes a turn the head of the conversation that it holds, if it succeeded, and lets that go. */
  readonly moveHead: CompiledStatement<TurnKey>
  readonly markTurns: CompiledStatement<ConversationKey & QueryTime>
  /** Nobody can follow a run that is not there any more. */
  readonly forgetEvents: CompiledStatement<ConversationKey>
  readonly removeTurns: CompiledStatement<ConversationKey>
  readonly hideItem: CompiledStatement<HiddenPlace>
}

export interface ConversationKey extends OwnerKey {
  readonly id: string
}

export interface QueryTime {
  readonly nowMs: number
}

export interface ConversationHolderKey extends ConversationKey {
  readonly by: string
}

/** Of a turn. */
export interface TurnKey {
  readonly id: string
  readonly tenant: string
}

export interface ConversationHolding extends ConversationHolderKey, QueryTime {
  readonly untilMs: number
}

export interface HiddenPlace extends OwnerKey {
  readonly turnId: string
  readonly side: 'in' | 'out'
  readonly index: number
}

export function createConversationStatements(language: Engine['language']): ConversationStatements {
  const db = createQueryBuilder(language)
  return {
    insertConversation: compileStatement('insert-conversation', (slot) =>
      insertConversation(db, slot),
    ),
    findConversation: compileStatement('find-conversation', (slot) => findConversation(db, slot)),
    relabelConversation: compileStatement('relabel-conversation', (slot) =>
      update(db, slot)
        .set({ metadata: slot(({ metadata }) => metadata) })
        .returningAll(),
    ),
    setContext: compileStatement('set-context', (slot) =>
      update(db, slot)
        .set({ context: slot(({ context }) => context) })
        .returningAll(),
    ),
    resetConversation: compileStatement('reset-conversation', (slot) =>
      update(db, slot)
        .set((build) => ({ reset_after: build.ref('head') }))
        .returningAll(),
    ),
    deleteConversation: compileStatement('delete-conversation', (slot) =>
      deleteConversation(db, slot),
    ),
    holdConversation: compileStatement('hold-conversation', (slot) => holdConversation(db, slot)),
    renewHold: compileStatement('renew-hold', (slot) =>
      update(db, slot)
        .set({ busy_until: slot(({ untilMs }) => untilMs) })
        .where('busy_by', '=', slot(holderOf))
        .returning('id'),
    ),
    letGo: compileStatement('let-go', (slot) =>
      update(db, slot)
        .set({ busy_by: null, busy_until: null })
        .where('busy_by', '=', slot(holderOf)),
    ),
    moveHead: compileStatement('move-head', (slot) => moveHead(db, slot)),
    markTurns: compileStatement('mark-turns', (slot) => toCompilable(db, markTurns(slot))),
    forgetEvents: compileStatement('forget-events-of-conversation', (slot) =>
      toCompilable(db, forgetEvents(slot)),
    ),
    removeTurns: compileStatement('remove-turns-of-conversation', (slot) =>
      toCompilable(db, removeTurns(slot)),
    ),
    hideItem: compileStatement('hide-item', (slot) => hideItem(db, slot)),
  }
}

const idOf = ({ id }: ConversationKey): string => id
const tenantOf = ({ tenant }: OwnerKey): string => tenant
const userOf = ({ user }: OwnerKey): string => user
const holderOf = ({ by }: ConversationHolderKey): string => by

/** Nobody is the empty text, as with turns. */
const WHOSE = sql<string>`coalesce(conversations.user_id, '')`

function insertConversation(db: Kysely<Tables>, slot: ParameterSlot<ConversationRow>) {
  return db
    .insertInto('conversations')
    .values({
      id: slot(({ id }) => id),
      tenant: slot(({ tenant }) => tenant),
      user_id: slot(({ user_id }) => user_id),
      metadata: slot(({ metadata }) => metadata),
      created_at: slot(({ created_at }) => created_at),
      head: slot(({ head }) => head),
      context: slot(({ context }) => context),
    })
    .onConflict((conflict) => conflict.doNothing())
}

function findConversation(db: Kysely<Tables>, slot: ParameterSlot<ConversationKey>) {
  return db
    .selectFrom('conversations')
    .selectAll()
    .where('id', '=', slot(idOf))
    .where('tenant', '=', slot(tenantOf))
    .where(WHOSE, '=', slot(userOf))
}

function update<Key extends ConversationKey>(db: Kysely<Tables>, slot: ParameterSlot<Key>) {
  return db
    .updateTable('conversations')
    .where('id', '=', slot(idOf))
    .where('tenant', '=', slot(tenantOf))
    .where(WHOSE, '=', slot(userOf))
}

function deleteConversation(db: Kysely<Tables>, slot: ParameterSlot<ConversationKey & QueryTime>) {
  return db
    .deleteFrom('conversations')
    .where('id', '=', slot(idOf))
    .where('tenant', '=', slot(tenantOf))
    .where(WHOSE, '=', slot(userOf))
    .where((build) =>
      build.or([
        build('busy_by', 'is', null),
        build(
          'busy_until',
          '<=',
          slot(({ nowMs }) => nowMs),
        ),
      ]),
    )
    .returning('id')
}

function holdConversation(db: Kysely<Tables>, slot: ParameterSlot<ConversationHolding>) {
  return update(db, slot)
    .set({ busy_by: slot(holderOf), busy_until: slot(({ untilMs }) => untilMs) })
    .where((build) =>
      build.or([
        build('busy_by', 'is', null),
        build('busy_by', '=', slot(holderOf)),
        build(
          'busy_until',
          '<=',
          slot(({ nowMs }) => nowMs),
        ),
      ]),
    )
    .returning(['head', 'context', 'reset_after'])
}

/** A turn that somebody has cancelled meanwhile adds nothing. */
function moveHead(db: Kysely<Tables>, slot: ParameterSlot<TurnKey>) {
  const turn = slot(({ id }) => id)
  return (
    db
      .updateTable('conversations')
      .set({
        head: sql<string>`case when exists (
        select 1 from turns where turns.id = ${turn} and turns.state in ('complete', 'incomplete')
      ) then ${turn} else head end`,
        busy_by: null,
        busy_until: null,
      })
      .where(
        'id',
        '=',
        sql<string>`(
      select turns.conversation from turns where turns.id = ${turn})`,
      )
      .where(
        'tenant',
        '=',
        slot(({ tenant }) => tenant),
      )
      .where('busy_by', '=', turn)
      // One that somebody else has taken over goes on holding it.
      .where(
        sql<SqlBool>`not exists (
        select 1 from turns where turns.id = ${turn} and turns.state in ('queued', 'open'))`,
      )
      .returning('id')
  )
}

/** Once the conversation is gone, and only then. */
function markTurns(slot: ParameterSlot<ConversationKey & QueryTime>): RawBuilder<unknown> {
  return sql`update turns set deleted_at = ${slot(({ nowMs }) => nowMs)}
    where conversation = ${slot(idOf)} and ${isTurnOfOwner(slot)}
    and deleted_at is null and state not in ('queued', 'open')
    and not exists (select 1 from conversations where conversations.id = ${slot(idOf)})`
}

function forgetEvents(slot: ParameterSlot<ConversationKey>): RawBuilder<unknown> {
  return sql`delete from stream_events where turn_id in (
    select turns.id from turns where turns.conversation = ${slot(idOf)}
    and ${isTurnOfOwner(slot)}
    and turns.deleted_at is not null)`
}

/** Of a conversation that is gone, all turns but those that turns outside of it stand on. */
function removeTurns(slot: ParameterSlot<ConversationKey>): RawBuilder<unknown> {
  const isOfIt = sql`turns.conversation = ${slot(idOf)} and ${isTurnOfOwner(slot)}`
  return sql`with recursive kept(id, parent) as (
      select turns.id, turns.parent from turns where ${isOfIt}
      and (turns.deleted_at is null or exists (
        select 1 from turns child where child.parent = turns.id
        and child.conversation is distinct from turns.conversation))
    union
      select turns.id, turns.parent from kept join turns on turns.id = kept.parent
      where ${TURN_TENANT} = ${slot(tenantOf)}
    )
    delete from turns where ${isOfIt} and turns.deleted_at is not null
    and turns.id not in (select kept.id from kept)
    and not exists (select 1 from conversations where conversations.id = ${slot(idOf)})`
}

function hideItem(db: Kysely<Tables>, slot: ParameterSlot<HiddenPlace>) {
  return db
    .updateTable('items')
    .set({ hidden: sql.lit(1) })
    .where(
      'turn_id',
      '=',
      slot(({ turnId }) => turnId),
    )
    .where(
      'side',
      '=',
      slot(({ side }) => side),
    )
    .where(
      'position',
      '=',
      slot(({ index }) => index),
    )
    .where('tenant', '=', slot(tenantOf))
    .where(
      sql<SqlBool>`exists (
        select 1 from turns where turns.id = items.turn_id and ${TURN_USER} = ${slot(userOf)})`,
    )
}
