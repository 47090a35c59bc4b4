/** SQL for the ids that clients give to the chats and messages of answers. */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { isInJsonList } from '../database/json-list-parameter.ts'
import { ANSWER_MESSAGE_COLUMNS, type AnswerMessageRow } from '../database/table-row-types.ts'
import { isDeletedSince, selectUserDeletionName } from '../deletion/deleted-since-condition.ts'
import {
  belongsToRequester,
  compileDeleteUnused,
  selectFromDeletableTurn,
  type ThreadKey,
} from '../deletion/expiry-and-deletion-statements.ts'
import { isRowOfOwner, type OwnerKey } from '../owner.ts'

export interface ChatKey extends OwnerKey {
  readonly chat: string
  readonly limit: number
}

export interface AnswerMessageTouch {
  readonly tenant: string
  /** A JSON list of ids. */
  readonly ids: string
  readonly nowMs: number
}

export function createAnswerMessageStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  return {
    /** Inserts nothing if the user was deleted after the answer began, or if the row exists already. */
    insert: compile('insert-answer-message', insertAnswerMessage),
    /** Returns the latest rows of a chat, the latest first. */
    selectOfChat: compile<ChatKey>(
      'answer-messages-of-chat',
      (
        slot,
      ) => sql`select id, message, parent, segment, continues, turn_id, used_at from answer_messages
        where ${isRowOfOwner('answer_messages', slot)} and answer_messages.chat = ${slot('chat')}
        order by answer_messages.id desc limit ${slot('limit')}`,
    ),
    touch: compile<AnswerMessageTouch>(
      'touch-answer-messages',
      (slot) => sql`update answer_messages set used_at = ${slot('nowMs')}
        where ${isInJsonList(language, sql`answer_messages.id`, slot('ids'))}
        and answer_messages.tenant || '' = ${slot('tenant')} and used_at + 0 < ${slot('nowMs')}`,
    ),
    removeOfThread: compile('remove-answer-messages-of-thread', removeOfThread),
    removeUnused: compileDeleteUnused(language, 'answer_messages', 'remove-unused-answer-messages'),
  }
}

function insertAnswerMessage(slot: ParameterSlot<AnswerMessageRow>): SqlFragment {
  const wasDeleted = isDeletedSince(
    sql`${slot('tenant')}`,
    [selectUserDeletionName(slot)],
    slot('created_at'),
  )
  const columns = ANSWER_MESSAGE_COLUMNS.map((name) => sql.ref(name))
  const values = ANSWER_MESSAGE_COLUMNS.map((name) => slot(name))
  return sql`insert into answer_messages (${sql.join(columns)}) select ${sql.join(values)}
    where not ${wasDeleted} on conflict do nothing`
}

/**
 * Deletes the rows of a thread's turns, and those of answers without a stored turn in the same chats. Rows of other
 * threads in these chats stay, because they find turns that are still to be deleted. Must run before the turns are
 * deleted.
 */
function removeOfThread(slot: ParameterSlot<ThreadKey>): SqlFragment {
  return sql`with chats(user_key, chat, thread) as (
      select distinct coalesce(named.user_id, ''), named.chat, of_thread.thread
      from turns of_thread cross join answer_messages named
      where of_thread.tenant = ${slot('tenant')}
      and of_thread.thread = (${selectFromDeletableTurn(slot, sql`turns.thread`)})
      and named.turn_id = of_thread.id and ${belongsToRequester(slot, sql`named.user_id`)}
    )
    delete from answer_messages where id in (
      select listed.id from chats cross join answer_messages listed
      where listed.tenant = ${slot('tenant')} and coalesce(listed.user_id, '') = chats.user_key
      and listed.chat = chats.chat and (listed.turn_id is null or exists (
        select 1 from turns answered where answered.id = listed.turn_id
        and answered.thread = chats.thread)))`
}
