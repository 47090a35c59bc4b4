/**
 * SQL implementation of expiry and deletion for any engine. Expired turns are deleted page by page;
 * threads and users at once, together with all data derived from them.
 */
import { decodeColumn, encodeColumn, encodeNullableColumn } from '../database/escape-column-text.ts'
import type { Engine, SqlQuery, SqlRows } from '../database/engine-interface.ts'
import { createFactStatements } from '../facts/fact-statements.ts'
import {
  createExpiryAndDeletionStatements,
  type ExpiryPage,
  type DeletionSteps,
} from './expiry-and-deletion-statements.ts'
import { getDeletionLocks, writeAfterLock } from './deletion-locks.ts'
import { createDeletionLogStatements } from './deletion-log-statements.ts'
import { createLayerStatements } from '../memory-layers/memory-layer-statements.ts'
import type {
  Expiry,
  ExpiryCursor,
  ThreadDeletion,
  RecallStore,
} from '../recall/recall-store-interface.ts'
import {
  createMediaReleaseStatements,
  buildReleaseQueries,
  buildSweepQueries,
} from '../media/media-release-statements.ts'
import { createSummaryStatements } from '../summaries/summary-statements.ts'
import type { TurnRow } from '../database/table-row-types.ts'

export function createExpiryAndDeletion(
  engine: Engine,
): Pick<RecallStore, 'expireTurns' | 'forgetThread' | 'forgetUser'> {
  const sql = createStatements(engine.language)
  const { deletion, deletionLog, mediaRelease, summaries, facts, layers } = sql
  return {
    async expireTurns(expiry) {
      const [unused = [], , , removed = []] = await engine.write(
        buildExpiryQueries(sql, expiry),
        'kill',
      )
      return { removed: removed.length, next: findNextPage(unused, expiry.limit) }
    },
    async forgetThread(thread) {
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
    async forgetUser(tenant, user, nowMs) {
      const key = { tenant: encodeColumn(tenant), user: encodeColumn(user) }
      return deleteAll(engine, sql, {
        tenant: key.tenant,
        logEntry: deletionLog.logUser({ ...key, nowMs }),
        queries: [
          summaries.removeOfUser(key),
          facts.removeOfUser(key),
          layers.removeOfUser(key),
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
    layers: createLayerStatements(language),
  }
}

/** Builds the queries for one page. The first returns the page, the fourth the deleted turns. */
function buildExpiryQueries(
  { deletion, deletionLog, mediaRelease, summaries, facts, layers }: Statements,
  { of: lifetime, unusedSinceMs, nowMs, after, limit }: Expiry,
): readonly SqlQuery[] {
  const [afterMs, afterId] = [after?.usedAtMs ?? unusedSinceMs, encodeColumn(after?.turnId ?? '')]
  const page: ExpiryPage = { unusedSinceMs, nowMs, afterMs, afterId, limit }
  return [
    deletion.unusedTurns(lifetime)(page),
    deletion.deleteEventsOfUnused(lifetime)(page),
    deletion.releaseMediaOfUnused(lifetime)(page),
    deletion.removeUnused(lifetime)(page),
    summaries.removeUnused(lifetime)(page),
    layers.removeUnused(lifetime)(page),
    // Once per expiry, with its first page.
    ...(after === null && lifetime === 'all'
      ? [
          mediaRelease.unused.releaseFetched({ unusedSinceMs }),
          mediaRelease.unused.removeAddresses({ unusedSinceMs }),
        ]
      : []),
    ...buildSweepQueries(mediaRelease),
    ...(after === null ? [facts.removeExpired({ nowMs, limit })] : []),
    ...(lifetime === 'all' ? [facts.removeUnused({ unusedSinceMs, limit })] : []),
    ...(after === null ? [deletionLog.removeOldEntries({ nowMs })] : []),
  ]
}

function findNextPage(unused: SqlRows, limit: number): ExpiryCursor | null {
  const last = unused.at(-1) as Pick<TurnRow, 'used_at' | 'id'> | undefined
  if (last === undefined || unused.length < limit) return null
  return { usedAtMs: last.used_at, turnId: decodeColumn(last.id) }
}

interface DeletionBatch {
  readonly tenant: string
  /** The deletion log entry. */
  readonly logEntry: SqlQuery
  /** The last query deletes turns. */
  readonly queries: readonly SqlQuery[]
}

/**
 * Deletes everything in one transaction. On Postgres, where turns can be created meanwhile, the
 * deletion log entry is committed first.
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
  return (results[queries.length] ?? []).length
}

function encodeThreadKey({ tenant, user, turnId }: ThreadDeletion) {
  return {
    tenant: encodeColumn(tenant),
    turnId: encodeColumn(turnId),
    user: encodeNullableColumn(user),
  }
}

function buildDeletionQueries<Key>(statements: DeletionSteps<Key>, key: Key): readonly SqlQuery[] {
  const { detachConversations, deleteEvents, removeTurns } = statements
  return [detachConversations(key), deleteEvents(key), removeTurns(key)]
}
