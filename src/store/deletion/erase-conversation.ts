/**
 * Deletes the turns of a deleted conversation: marks its finished turns as deleted, and then deletes those that no
 * unmarked turn and no turn outside of the conversation continues.
 */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { isInJsonList } from '../database/json-list-parameter.ts'
import { resolvePageStart } from '../database/resolve-page-start.ts'
import {
  buildReleaseQueries,
  createMediaReleaseStatements,
} from '../media/media-release-statements.ts'
import type { ErasureRow } from './erasure-statements.ts'
import type { SizedTurnId, SliceWriter } from './slice-writer-interface.ts'

interface ConversationPage extends ErasureRow {
  readonly beforeThread: string
  readonly beforeId: string
  readonly limit: number
}

interface TurnRow extends SizedTurnId {
  readonly thread: string
  readonly is_kept: number
}

const PAGE_TURNS = 100

export function createConversationErasureStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  return {
    selectTurns: compile<ConversationPage>('turns-of-erased-conversation', selectPage),
    /** Adds zero, because Postgres would otherwise read an index that holds all turns which are not deleted. */
    markTurns: compile<ErasureRow & { readonly turnIds: string }>(
      'mark-turns-of-erased-conversation',
      (slot) => sql`update turns set deleted_at = ${slot('requested_at')}
        where ${isInJsonList(language, sql`turns.id`, slot('turnIds'))} and turns.deleted_at + 0 is null
        and turns.state not in ('queued', 'open')`,
    ),
  }
}

/** Returns a function that deletes what an erasure of a conversation covers. */
export function createConversationEraser(language: Engine['language']) {
  const statements = createConversationErasureStatements(language)
  const media = createMediaReleaseStatements(language)
  /** Calls `work` with the turns of the conversation, page by page, the latest first. */
  const forEachPage = async (
    erasure: ErasureRow,
    { engine }: SliceWriter,
    work: (turns: readonly TurnRow[]) => Promise<void>,
  ): Promise<void> => {
    let page: ConversationPage = {
      ...erasure,
      beforeThread: LAST,
      beforeId: LAST,
      limit: PAGE_TURNS,
    }
    for (;;) {
      const [rows = []] = await engine.read([statements.selectTurns(page)])
      const turns = rows as readonly TurnRow[]
      if (turns.length > 0) await work(turns)
      const last = turns.at(-1)
      if (last === undefined || turns.length < PAGE_TURNS) return
      page = { ...page, beforeThread: last.thread, beforeId: last.id }
    }
  }
  return async (erasure: ErasureRow, writer: SliceWriter): Promise<void> => {
    const { tenant, name: id, user_id: user } = erasure
    await forEachPage(erasure, writer, async (turns) => {
      const turnIds = JSON.stringify(turns.map((turn) => turn.id))
      await writer.write(tenant, [statements.markTurns({ ...erasure, turnIds })])
    })
    const key = { id, tenant, user: user ?? '' }
    await writer.write(tenant, buildReleaseQueries(media.ofConversation, key))
    // A child may be on a later page than its parent, so the pages are read again until nothing more can be deleted.
    let hasDeleted = true
    while (hasDeleted) {
      hasDeleted = false
      await forEachPage(erasure, writer, async (turns) => {
        const deletable = turns.filter(({ is_kept: isKept }) => isKept === 0)
        if (deletable.length === 0) return
        hasDeleted = true
        await writer.deleteTurns(tenant, deletable)
      })
    }
  }
}

/** Sorts after every id. */
const LAST = resolvePageStart(null, 'desc')

/** Selects a page of turns, and which of them another turn still needs. */
function selectPage(slot: ParameterSlot<ConversationPage>): SqlFragment {
  return sql`with recursive listed(id, parent, thread, bytes, deleted_at) as (
      select turns.id, turns.parent, turns.thread, coalesce(turns.bytes, 0), turns.deleted_at from turns
      where turns.conversation = ${slot('name')}
      and (turns.thread, turns.id) < (${slot('beforeThread')}, ${slot('beforeId')})
      and turns.tenant || '' = ${slot('tenant')} and coalesce(turns.user_id, '') || '' = ${slot('user_id')}
      order by turns.thread desc, turns.id desc limit ${slot('limit')}
    ), kept(id, parent) as (
      select listed.id, listed.parent from listed
      where listed.deleted_at is null
      or exists (select 1 from conversations where conversations.head = listed.id)
      or exists (select 1 from turns child where child.parent = listed.id
        and child.id not in (select same.id from listed same))
    union
      select listed.id, listed.parent from kept join listed on listed.id = kept.parent
    )
    select listed.id, listed.thread, listed.bytes,
      case when listed.id in (select kept.id from kept) then 1 else 0 end as is_kept
    from listed order by listed.thread desc, listed.id desc`
}
