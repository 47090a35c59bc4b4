/** The queries of conversations. A change that depends on who holds one says so in its condition. */
import { sql, type Kysely, type RawBuilder, type SqlBool } from 'kysely'
import {
  compile,
  queryBuilder,
  written,
  type Slot,
  type Statement,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import type { OwnerKey } from '../owner.ts'
import { isOfOwner, TENANT, USER } from '../turns/turn-statements.ts'
import type { ConversationRow, Tables } from '../database/table-row-types.ts'

export interface ConversationStatements {
  readonly insertConversation: Statement<ConversationRow>
  readonly findConversation: Statement<ConversationKey>
  readonly relabelConversation: Statement<ConversationKey & { readonly metadata: string }>
  readonly setContext: Statement<ConversationKey & { readonly context: string | null }>
  readonly resetConversation: Statement<ConversationKey>
  /** These return a row if the conversation was there, and free. */
  readonly deleteConversation: Statement<ConversationKey & Moment>
  readonly holdConversation: Statement<ConversationHolding>
  readonly renewHold: Statement<ConversationHolding>
  readonly letGo: Statement<Holder>
  /** Makes a turn the head of the conversation that it holds, if it succeeded, and lets that go. */
  readonly moveHead: Statement<TurnKey>
  readonly markTurns: Statement<ConversationKey & Moment>
  /** Nobody can follow a run that is not there any more. */
  readonly forgetEvents: Statement<ConversationKey>
  readonly removeTurns: Statement<ConversationKey>
  readonly hideItem: Statement<HiddenPlace>
}

export interface ConversationKey extends OwnerKey {
  readonly id: string
}

export interface Moment {
  readonly nowMs: number
}

export interface Holder extends ConversationKey {
  readonly by: string
}

/** Of a turn. */
export interface TurnKey {
  readonly id: string
  readonly tenant: string
}

export interface ConversationHolding extends Holder, Moment {
  readonly untilMs: number
}

export interface HiddenPlace extends OwnerKey {
  readonly turnId: string
  readonly side: 'in' | 'out'
  readonly index: number
}

export function createConversationStatements(language: Engine['language']): ConversationStatements {
  const db = queryBuilder(language)
  return {
    insertConversation: compile('insert-conversation', (slot) => insertConversation(db, slot)),
    findConversation: compile('find-conversation', (slot) => findConversation(db, slot)),
    relabelConversation: compile('relabel-conversation', (slot) =>
      update(db, slot)
        .set({ metadata: slot(({ metadata }) => metadata) })
        .returningAll(),
    ),
    setContext: compile('set-context', (slot) =>
      update(db, slot)
        .set({ context: slot(({ context }) => context) })
        .returningAll(),
    ),
    resetConversation: compile('reset-conversation', (slot) =>
      update(db, slot)
        .set((build) => ({ reset_after: build.ref('head') }))
        .returningAll(),
    ),
    deleteConversation: compile('delete-conversation', (slot) => deleteConversation(db, slot)),
    holdConversation: compile('hold-conversation', (slot) => holdConversation(db, slot)),
    renewHold: compile('renew-hold', (slot) =>
      update(db, slot)
        .set({ busy_until: slot(({ untilMs }) => untilMs) })
        .where('busy_by', '=', slot(holderOf))
        .returning('id'),
    ),
    letGo: compile('let-go', (slot) =>
      update(db, slot)
        .set({ busy_by: null, busy_until: null })
        .where('busy_by', '=', slot(holderOf)),
    ),
    moveHead: compile('move-head', (slot) => moveHead(db, slot)),
    markTurns: compile('mark-turns', (slot) => written(db, markTurns(slot))),
    forgetEvents: compile('forget-events-of-conversation', (slot) =>
      written(db, forgetEvents(slot)),
    ),
    removeTurns: compile('remove-turns-of-conversation', (slot) => written(db, removeTurns(slot))),
    hideItem: compile('hide-item', (slot) => hideItem(db, slot)),
  }
}

const idOf = ({ id }: ConversationKey): string => id
const tenantOf = ({ tenant }: OwnerKey): string => tenant
const userOf = ({ user }: OwnerKey): string => user
const holderOf = ({ by }: Holder): string => by

/** Nobody is the empty text, as with turns. */
const WHOSE = sql<string>`coalesce(conversations.user_id, '')`

function insertConversation(db: Kysely<Tables>, slot: Slot<ConversationRow>) {
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

function findConversation(db: Kysely<Tables>, slot: Slot<ConversationKey>) {
  return db
    .selectFrom('conversations')
    .selectAll()
    .where('id', '=', slot(idOf))
    .where('tenant', '=', slot(tenantOf))
    .where(WHOSE, '=', slot(userOf))
}

function update<Key extends ConversationKey>(db: Kysely<Tables>, slot: Slot<Key>) {
  return db
    .updateTable('conversations')
    .where('id', '=', slot(idOf))
    .where('tenant', '=', slot(tenantOf))
    .where(WHOSE, '=', slot(userOf))
}

function deleteConversation(db: Kysely<Tables>, slot: Slot<ConversationKey & Moment>) {
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

function holdConversation(db: Kysely<Tables>, slot: Slot<ConversationHolding>) {
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
function moveHead(db: Kysely<Tables>, slot: Slot<TurnKey>) {
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
function markTurns(slot: Slot<ConversationKey & Moment>): RawBuilder<unknown> {
  return sql`update turns set deleted_at = ${slot(({ nowMs }) => nowMs)}
    where conversation = ${slot(idOf)} and ${isOfOwner(slot)}
    and deleted_at is null and state not in ('queued', 'open')
    and not exists (select 1 from conversations where conversations.id = ${slot(idOf)})`
}

function forgetEvents(slot: Slot<ConversationKey>): RawBuilder<unknown> {
  return sql`delete from stream_events where turn_id in (
    select turns.id from turns where turns.conversation = ${slot(idOf)}
    and ${isOfOwner(slot)}
    and turns.deleted_at is not null)`
}

/** Of a conversation that is gone, all turns but those that turns outside of it stand on. */
function removeTurns(slot: Slot<ConversationKey>): RawBuilder<unknown> {
  const isOfIt = sql`turns.conversation = ${slot(idOf)} and ${isOfOwner(slot)}`
  return sql`with recursive kept(id, parent) as (
      select turns.id, turns.parent from turns where ${isOfIt}
      and (turns.deleted_at is null or exists (
        select 1 from turns child where child.parent = turns.id
        and child.conversation is distinct from turns.conversation))
    union
      select turns.id, turns.parent from kept join turns on turns.id = kept.parent
      where ${TENANT} = ${slot(tenantOf)}
    )
    delete from turns where ${isOfIt} and turns.deleted_at is not null
    and turns.id not in (select kept.id from kept)
    and not exists (select 1 from conversations where conversations.id = ${slot(idOf)})`
}

function hideItem(db: Kysely<Tables>, slot: Slot<HiddenPlace>) {
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
        select 1 from turns where turns.id = items.turn_id and ${USER} = ${slot(userOf)})`,
    )
}
