/**
 * SQL for conversations. A change that needs the lock of a conversation is made only if the turn
 * still has the lock.
 */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type CompiledStatement,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import {
  isOwned,
  isTurnOfOwner,
  TURN_TENANT,
  TURN_USER,
  type OwnedRowKey,
  type OwnerKey,
} from '../owner.ts'
import type { ConversationRow } from '../database/table-row-types.ts'

export interface ConversationStatements {
  readonly insertConversation: CompiledStatement<ConversationRow>
  readonly findConversation: CompiledStatement<OwnedRowKey>
  readonly updateMetadata: CompiledStatement<OwnedRowKey & Pick<ConversationRow, 'metadata'>>
  readonly setContext: CompiledStatement<OwnedRowKey & Pick<ConversationRow, 'context'>>
  readonly resetConversation: CompiledStatement<OwnedRowKey>
  /**
   * This and the next two statements return a row only if no other turn has locked the
   * conversation.
   */
  readonly deleteConversation: CompiledStatement<OwnedRowKey & QueryTime>
  readonly lockConversation: CompiledStatement<ConversationLockParameters>
  readonly renewLock: CompiledStatement<ConversationLockParameters>
  readonly releaseLock: CompiledStatement<ConversationLockHolderKey>
  /**
   * Makes a successful turn the head of the conversation that it has locked, and releases the lock.
   */
  readonly moveHead: CompiledStatement<TurnKey>
  readonly markTurns: CompiledStatement<OwnedRowKey & QueryTime>
  /** Deletes the events of runs that no client can follow any more. */
  readonly deleteEvents: CompiledStatement<OwnedRowKey>
  readonly deleteTurns: CompiledStatement<OwnedRowKey>
  readonly hideItem: CompiledStatement<HiddenItemPosition>
}

export interface QueryTime {
  readonly nowMs: number
}

export interface ConversationLockHolderKey extends OwnedRowKey {
  readonly by: string
}

export interface TurnKey {
  readonly id: string
  readonly tenant: string
}

export interface ConversationLockParameters extends ConversationLockHolderKey, QueryTime {
  readonly untilMs: number
}

export interface HiddenItemPosition extends OwnerKey {
  readonly turnId: string
  readonly side: 'in' | 'out'
  readonly index: number
}

export function createConversationStatements(language: Engine['language']): ConversationStatements {
  const compile = createStatementCompiler(language)
  return {
    insertConversation: compile('insert-conversation', insertConversation),
    findConversation: compile(
      'find-conversation',
      (slot) => sql`select * from conversations where ${isOne(slot)}`,
    ),
    updateMetadata: compile(
      'relabel-conversation',
      (slot) => sql`update conversations set metadata = ${slot('metadata')}
        where ${isOne(slot)} returning *`,
    ),
    setContext: compile(
      'set-context',
      (slot) => sql`update conversations set context = ${slot('context')}
        where ${isOne(slot)} returning *`,
    ),
    resetConversation: compile(
      'reset-conversation',
      (slot) => sql`update conversations set reset_after = head
        where ${isOne(slot)} returning *`,
    ),
    deleteConversation: compile(
      'delete-conversation',
      (slot) => sql`delete from conversations where ${isOne(slot)}
        and (busy_by is null or busy_until <= ${slot('nowMs')}) returning id`,
    ),
    lockConversation: compile(
      'lock-conversation',
      (slot) => sql`update conversations
        set busy_by = ${slot('by')}, busy_until = ${slot('untilMs')} where ${isOne(slot)}
        and (busy_by is null or busy_by = ${slot('by')} or busy_until <= ${slot('nowMs')})
        returning head, context, reset_after`,
    ),
    renewLock: compile(
      'renew-lock',
      (slot) => sql`update conversations set busy_until = ${slot('untilMs')}
        where ${isOne(slot)} and busy_by = ${slot('by')} returning id`,
    ),
    releaseLock: compile(
      'release-lock',
      (slot) => sql`update conversations set busy_by = null, busy_until = null
        where ${isOne(slot)} and busy_by = ${slot('by')}`,
    ),
    moveHead: compile('move-head', moveHead),
    markTurns: compile('mark-turns', markTurns),
    deleteEvents: compile('delete-events-of-conversation', deleteEvents),
    deleteTurns: compile('remove-turns-of-conversation', deleteTurns),
    hideItem: compile('hide-item', hideItem),
  }
}

function isOne(slot: ParameterSlot<OwnedRowKey>): SqlFragment {
  return sql`conversations.id = ${slot('id')} and ${isOwned('conversations', slot)}`
}

function insertConversation(slot: ParameterSlot<ConversationRow>): SqlFragment {
  return sql`insert into conversations (id, tenant, user_id, metadata, created_at, head, context)
    values (${slot('id')}, ${slot('tenant')}, ${slot('user_id')}, ${slot('metadata')},
      ${slot('created_at')}, ${slot('head')}, ${slot('context')})
    on conflict do nothing`
}

/**
 * Releases the turn's lock, and makes the turn the head of the conversation if it succeeded. The
 * head stays if the turn was cancelled. An unfinished turn, e.g. one that another replica has taken
 * over, keeps its lock.
 */
function moveHead(slot: ParameterSlot<TurnKey>): SqlFragment {
  const turn = slot('id')
  return sql`update conversations set busy_by = null, busy_until = null,
      head = case when exists (
        select 1 from turns where turns.id = ${turn} and turns.state in ('complete', 'incomplete')
      ) then ${turn} else head end
    where id = (select turns.conversation from turns where turns.id = ${turn})
    and tenant = ${slot('tenant')} and busy_by = ${turn}
    and not exists (
      select 1 from turns where turns.id = ${turn} and turns.state in ('queued', 'open'))
    returning id`
}

/**
 * True if the conversation no longer exists. The deletion has no effect while a turn has locked it.
 */
function isDeleted(slot: ParameterSlot<OwnedRowKey>): SqlFragment {
  return sql`not exists (select 1 from conversations where conversations.id = ${slot('id')})`
}

/** Marks the finished turns of a conversation as deleted, if the conversation itself is deleted. */
function markTurns(slot: ParameterSlot<OwnedRowKey & QueryTime>): SqlFragment {
  return sql`update turns set deleted_at = ${slot('nowMs')}
    where conversation = ${slot('id')} and ${isTurnOfOwner(slot)}
    and deleted_at is null and state not in ('queued', 'open') and ${isDeleted(slot)}`
}

function deleteEvents(slot: ParameterSlot<OwnedRowKey>): SqlFragment {
  return sql`delete from stream_events where turn_id in (
    select turns.id from turns where turns.conversation = ${slot('id')}
    and ${isTurnOfOwner(slot)} and turns.deleted_at is not null)`
}

/** Deletes the turns of a deleted conversation, except those with descendants outside of it. */
function deleteTurns(slot: ParameterSlot<OwnedRowKey>): SqlFragment {
  const isInConversation = sql`turns.conversation = ${slot('id')} and ${isTurnOfOwner(slot)}`
  return sql`with recursive kept(id, parent) as (
      select turns.id, turns.parent from turns where ${isInConversation}
      and (turns.deleted_at is null or exists (
        select 1 from turns child where child.parent = turns.id
        and child.conversation is distinct from turns.conversation))
    union
      select turns.id, turns.parent from kept join turns on turns.id = kept.parent
      where ${TURN_TENANT} = ${slot('tenant')}
    )
    delete from turns where ${isInConversation} and turns.deleted_at is not null
    and turns.id not in (select kept.id from kept) and ${isDeleted(slot)}`
}

function hideItem(slot: ParameterSlot<HiddenItemPosition>): SqlFragment {
  return sql`update items set hidden = 1 where turn_id = ${slot('turnId')}
    and side = ${slot('side')} and position = ${slot('index')} and tenant = ${slot('tenant')}
    and exists (
      select 1 from turns where turns.id = items.turn_id and ${TURN_USER} = ${slot('user')})`
}
