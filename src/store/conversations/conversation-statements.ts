/**
 * SQL for conversations. A change that requires the lock of a conversation is made only if the turn
 * still has that lock.
 */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { ItemPosition } from '../../core/turn-derived-ids.ts'
import type { Engine } from '../database/engine-interface.ts'
import type { ExpectedTime } from '../leases/database-clock.ts'
import { isTurnErased } from '../deletion/erased-conditions.ts'
import { DATABASE_TIME, isLeaseOver } from '../leases/lease-conditions.ts'
import { isRowOfOwner, TURN_USER, type OwnedRowKey, type OwnerKey } from '../owner.ts'
import type { ConversationRow } from '../database/table-row-types.ts'

export interface ConversationLockHolderKey extends OwnedRowKey {
  readonly turnId: string
}

export interface ConversationLockParameters extends ConversationLockHolderKey {
  readonly leaseMs: number
}

export type ConversationStatements = ReturnType<typeof createConversationStatements>

export function createConversationStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  const time = DATABASE_TIME[language]
  /** A lock has also ended if the turn that holds it is being deleted. */
  const isLockOver = (slot: ParameterSlot<ExpectedTime>): SqlFragment =>
    sql`(${isLeaseOver('conversations.busy_until', slot, language)} or exists (
      select 1 from turns where turns.id = conversations.busy_by and ${isTurnErased()}))`
  return {
    insertConversation: compile('insert-conversation', insertConversation),
    findConversation: compile<OwnedRowKey>(
      'find-conversation',
      (slot) => sql`select * from conversations where ${isConversationWithId(slot)}`,
    ),
    updateMetadata: compile<OwnedRowKey & Pick<ConversationRow, 'metadata'>>(
      'relabel-conversation',
      (slot) => sql`update conversations set metadata = ${slot('metadata')}
        where ${isConversationWithId(slot)} returning *`,
    ),
    setContext: compile<OwnedRowKey & Pick<ConversationRow, 'context'>>(
      'set-context',
      (slot) => sql`update conversations set context = ${slot('context')}
        where ${isConversationWithId(slot)} returning *`,
    ),
    resetConversation: compile<OwnedRowKey>(
      'reset-conversation',
      (slot) => sql`update conversations set reset_after = head
        where ${isConversationWithId(slot)} returning *`,
    ),
    /** Deletes a conversation unless a turn has locked it. Returns a row if it was deleted. */
    deleteConversation: compile<OwnedRowKey & ExpectedTime>(
      'delete-conversation',
      (slot) => sql`delete from conversations where ${isConversationWithId(slot)}
        and (busy_by is null or ${isLockOver(slot)}) returning id`,
    ),
    lockConversation: compile<ConversationLockParameters & ExpectedTime>(
      'lock-conversation',
      (slot) => sql`update conversations
        set busy_by = ${slot('turnId')}, busy_until = ${time} + ${slot('leaseMs')},
          lease_ms = ${slot('leaseMs')}
        where ${isConversationWithId(slot)}
        and (busy_by is null or busy_by = ${slot('turnId')} or ${isLockOver(slot)})
        returning head, context, reset_after`,
    ),
    renewLock: compile<ConversationLockParameters>(
      'renew-lock',
      (slot) => sql`update conversations set busy_until = ${time} + ${slot('leaseMs')}
        where ${isConversationWithId(slot)} and busy_by = ${slot('turnId')} returning id`,
    ),
    releaseLock: compile<ConversationLockHolderKey>(
      'release-lock',
      (slot) => sql`update conversations set busy_by = null, busy_until = null
        where ${isConversationWithId(slot)} and busy_by = ${slot('turnId')}`,
    ),
    moveHead: compile('move-head', moveHead),
    hideItem: compile('hide-item', hideItem),
  }
}

function isConversationWithId(slot: ParameterSlot<OwnedRowKey>): SqlFragment {
  return sql`conversations.id = ${slot('id')} and ${isRowOfOwner('conversations', slot)}`
}

function insertConversation(slot: ParameterSlot<ConversationRow>): SqlFragment {
  return sql`insert into conversations (id, tenant, user_id, metadata, created_at, head, context)
    values (${slot('id')}, ${slot('tenant')}, ${slot('user_id')}, ${slot('metadata')},
      ${slot('created_at')}, ${slot('head')}, ${slot('context')})
    on conflict do nothing`
}

/**
 * Releases the turn's lock on the conversation. If the turn succeeded, makes it the head, i.e. the
 * last turn of the conversation; a failed or cancelled turn does not become the head. An unfinished
 * turn, e.g. one that another replica has claimed, keeps its lock.
 */
function moveHead(slot: ParameterSlot<Omit<OwnedRowKey, 'user'>>): SqlFragment {
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

function hideItem(slot: ParameterSlot<OwnerKey & ItemPosition>): SqlFragment {
  return sql`update items set hidden = 1 where turn_id = ${slot('turnId')}
    and side = ${slot('side')} and position = ${slot('index')} and tenant = ${slot('tenant')}
    and exists (
      select 1 from turns where turns.id = items.turn_id and ${TURN_USER} = ${slot('user')})`
}
