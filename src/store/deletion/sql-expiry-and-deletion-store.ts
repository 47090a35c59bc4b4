/**
 * SQL implementation of expiry and deletion for any engine. Deletes expired turns page by page. The
 * turns of a thread or user are deleted in one transaction, together with all data derived from them.
 */
import {
  decodeColumnText,
  encodeColumnText,
  encodeNullableColumn,
} from '../database/encode-column-text.ts'
import type { Engine, SqlQuery, SqlRows } from '../database/engine-interface.ts'
import { createFactStatements } from '../facts/fact-statements.ts'
import {
  createExpiryAndDeletionStatements,
  type ExpiryPage,
  type DeletionSteps,
} from './expiry-and-deletion-statements.ts'
import { getDeletionLocks, writeAfterLock } from './deletion-locks.ts'
import { createDeletionLogStatements } from './deletion-log-statements.ts'
import { createIdempotencyStatements } from '../idempotency/idempotency-statements.ts'
import { createMemoryLayerStatements } from '../memory-layers/memory-layer-statements.ts'
import type {
  ExpiryAndDeletionStore,
  ExpiryPageRequest,
  ExpiryCursor,
  ThreadDeletion,
} from './expiry-and-deletion-store-interface.ts'
import {
  createMediaReleaseStatements,
  buildReleaseQueries,
  buildSweepQueries,
} from '../media/media-release-statements.ts'
import { createSummaryStatements } from '../summaries/summary-statements.ts'
import type { TurnRow } from '../database/table-row-types.ts'

export function createExpiryAndDeletionStore(engine: Engine): ExpiryAndDeletionStore {
  const sql = createStatements(engine.language)
  const { deletion, deletionLog, mediaRelease, summaries, facts, layers, idempotency } = sql
  return {
    async expireTurns(expiry) {
      const [unused = [], , , removed = []] = await engine.write(
        buildExpiryQueries(sql, expiry),
        'kill',
      )
      return { deletedCount: removed.length, next: findNextPage(unused, expiry.limit) }
    },
    async deleteThread(thread) {
      const key = encodeThreadKey(thread)
      return deleteAll(engine, sql, {
        tenant: key.tenant,
        logEntry: deletionLog.logThread({ ...key, nowMs: thread.nowMs }),
        queries: [
          summaries.removeOfThread(key),
          facts.removeOfThread(key),
          layers.removeOfThread(key),
          ...buildReleaseQueries(mediaRelease.ofThread, key),
          ...buildDeletionQueries(deletion.ofThread, key),
        ],
      })
    },
    async deleteUser(tenant, user, nowMs) {
      const key = { tenant: encodeColumnText(tenant), user: encodeColumnText(user) }
      return deleteAll(engine, sql, {
        tenant: key.tenant,
        logEntry: deletionLog.logUser({ ...key, nowMs }),
        queries: [
          summaries.removeOfUser(key),
          facts.removeOfUser(key),
          layers.removeOfUser(key),
          idempotency.removeOfUser(key),
          ...buildReleaseQueries(mediaRelease.ofUser, key),
          deletion.removeConversations(key),
          ...buildDeletionQueries(deletion.ofUser, key),
        ],
      })
    },
  }
}

type Statements = ReturnType<typeof createStatements>

function createStatements(language: Engine['language']) {
  return {
    deletion: createExpiryAndDeletionStatements(language),
    deletionLog: createDeletionLogStatements(language),
    mediaRelease: createMediaReleaseStatements(language),
    summaries: createSummaryStatements(language),
    facts: createFactStatements(language),
    layers: createMemoryLayerStatements(language),
    idempotency: createIdempotencyStatements(language),
  }
}

/**
 * Builds the queries that expire one page of turns. The first query returns the turns of the page,
 * the fourth the deleted turns.
 */
function buildExpiryQueries(
  { deletion, deletionLog, mediaRelease, summaries, facts, layers, idempotency }: Statements,
  { chats, unusedSinceMs, nowMs, after, limit }: ExpiryPageRequest,
): readonly SqlQuery[] {
  const [afterMs, afterId] = [
    after?.usedAtMs ?? unusedSinceMs,
    encodeColumnText(after?.turnId ?? ''),
  ]
  const page: ExpiryPage = { unusedSinceMs, afterMs, afterId, limit }
  return [
    deletion.unusedTurns(chats)(page),
    deletion.deleteEventsOfUnused(chats)(page),
    deletion.releaseMediaOfUnused(chats)(page),
    deletion.removeUnused(chats)(page),
    summaries.removeUnused(chats)(page),
    layers.removeUnused(chats)(page),
    // Fetched media are not paged, so they are released only with the first page.
    ...(after === null && chats === 'all'
      ? [
          mediaRelease.unused.releaseFetched({ unusedSinceMs }),
          mediaRelease.unused.removeAddresses({ unusedSinceMs }),
        ]
      : []),
    ...buildSweepQueries(mediaRelease),
    ...(after === null ? [facts.removeExpired({ nowMs, limit })] : []),
    ...(chats === 'all' ? [facts.removeUnused({ unusedSinceMs, limit })] : []),
    ...(after === null
      ? [deletionLog.removeOldEntries({ nowMs }), idempotency.removeExpired({ nowMs })]
      : []),
  ]
}

function findNextPage(unused: SqlRows, limit: number): ExpiryCursor | null {
  const last = unused.at(-1) as Pick<TurnRow, 'used_at' | 'id'> | undefined
  if (last === undefined || unused.length < limit) return null
  return { usedAtMs: last.used_at, turnId: decodeColumnText(last.id) }
}

interface DeletionBatch {
  readonly tenant: string
  /** Inserts the deletion log entry. */
  readonly logEntry: SqlQuery
  /** The last query deletes the turns and returns a row for each. */
  readonly queries: readonly SqlQuery[]
}

/**
 * Runs the queries of a deletion in one transaction. On Postgres, the deletion log entry is committed
 * before it, so that a turn that is created meanwhile is rejected.
 */
async function deleteAll(
  engine: Engine,
  { mediaRelease }: Pick<Statements, 'mediaRelease'>,
  { tenant, logEntry, queries }: DeletionBatch,
): Promise<number> {
  const locks = getDeletionLocks(engine.language)
  const lockQueries = [...locks.deletion(tenant), ...locks.deletionLogEntry(tenant)]
  if (lockQueries.length > 0) await engine.write([...lockQueries, logEntry])
  const all = [logEntry, ...queries, ...buildSweepQueries(mediaRelease)]
  const results = await writeAfterLock(engine, 'deletion', tenant, all)
  await engine.eraseDeleted?.()
  return (results[queries.length] ?? []).length
}

function encodeThreadKey({ tenant, user, turnId }: ThreadDeletion) {
  return {
    tenant: encodeColumnText(tenant),
    turnId: encodeColumnText(turnId),
    user: encodeNullableColumn(user),
  }
}

function buildDeletionQueries<Key>(statements: DeletionSteps<Key>, key: Key): readonly SqlQuery[] {
  const { detachConversations, deleteEvents, removeTurns } = statements
  return [detachConversations(key), deleteEvents(key), removeTurns(key)]
}
