/**
 * The verbs by which memory ends, over any engine: what nobody needs goes page by page, what is to be
 * forgotten goes at once, and with it whatever was made of it.
 */
import { decodeColumn, encodeColumn } from '../database/escape-column-text.ts'
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
  createReleaseQueries,
  createSweepQueries,
} from '../media/media-release-statements.ts'
import { createSummaryStatements } from '../summaries/summary-statements.ts'
import type { TurnRow } from '../database/table-row-types.ts'

export function createExpiryAndDeletion(
  engine: Engine,
): Pick<RecallStore, 'expireTurns' | 'forgetThread' | 'forgetUser'> {
  const sql = statementsFor(engine.language)
  const { forget, forgotten, release, summaries, facts, layers } = sql
  return {
    async expireTurns(expiry) {
      const [unused = [], , , removed = []] = await engine.write(expiring(sql, expiry), 'kill')
      return { removed: removed.length, next: nextPage(unused, expiry.limit) }
    },
    async forgetThread(thread) {
      const key = threadKey(thread)
      return forgetAll(engine, sql, {
        tenant: key.tenant,
        note: forgotten.noteThread({ ...key, nowMs: thread.nowMs }),
        queries: [
          summaries.removeOfThread(key),
          facts.removeOfThread(key),
          layers.removeOfThread(key),
          ...createReleaseQueries(release.ofThread, key),
          ...forgetting(forget.ofThread, key),
        ],
      })
    },
    async forgetUser(tenant, user, nowMs) {
      const key = { tenant: encodeColumn(tenant), user: encodeColumn(user) }
      return forgetAll(engine, sql, {
        tenant: key.tenant,
        note: forgotten.noteUser({ ...key, nowMs }),
        queries: [
          summaries.removeOfUser(key),
          facts.removeOfUser(key),
          layers.removeOfUser(key),
          ...createReleaseQueries(release.ofUser, key),
          forget.removeConversations(key),
          ...forgetting(forget.ofUser, key),
        ],
      })
    },
  }
}

type Statements = ReturnType<typeof statementsFor>

function statementsFor(language: Engine['language']) {
  return {
    forget: createExpiryAndDeletionStatements(language),
    forgotten: createDeletionLogStatements(language),
    release: createMediaReleaseStatements(language),
    summaries: createSummaryStatements(language),
    facts: createFactStatements(language),
    layers: createLayerStatements(language),
  }
}

/** The first of these yields the page, the fourth those of it that were removed. */
function expiring(
  { forget, forgotten, release, summaries, facts, layers }: Statements,
  { of, unusedSinceMs, nowMs, after, limit }: Expiry,
): readonly SqlQuery[] {
  const [afterMs, afterId] = [after?.usedAtMs ?? unusedSinceMs, encodeColumn(after?.turnId ?? '')]
  const page: ExpiryPage = { unusedSinceMs, nowMs, afterMs, afterId, limit }
  return [
    forget.unusedTurns(of)(page),
    forget.forgetEventsOfUnused(of)(page),
    forget.releaseShownByUnused(of)(page),
    forget.removeUnused(of)(page),
    summaries.removeUnused(of)(page),
    layers.removeUnused(of)(page),
    // Once for all pages: those that this one leaves alone are found by the next.
    ...(after === null && of === 'all'
      ? [
          release.unused.loaded({ unusedSinceMs }),
          release.unused.removeAddresses({ unusedSinceMs }),
        ]
      : []),
    ...createSweepQueries(release),
    ...(after === null ? [facts.removeExpired({ nowMs, limit })] : []),
    ...(of === 'all' ? [facts.removeUnused({ unusedSinceMs, limit })] : []),
    ...(after === null ? [forgotten.removeNotes({ nowMs })] : []),
  ]
}

function nextPage(unused: SqlRows, limit: number): ExpiryCursor | null {
  const last = unused.at(-1) as Pick<TurnRow, 'used_at' | 'id'> | undefined
  if (last === undefined || unused.length < limit) return null
  return { usedAtMs: last.used_at, turnId: decodeColumn(last.id) }
}

interface Forgotten {
  readonly tenant: string
  /** That it is forgotten, and when. */
  readonly note: SqlQuery
  /** The last of them removes turns. */
  readonly queries: readonly SqlQuery[]
}

/** Where a turn can be opened meanwhile, it is known there what is forgotten before any of it goes. */
async function forgetAll(
  engine: Engine,
  { release }: Pick<Statements, 'release'>,
  { tenant, note, queries }: Forgotten,
): Promise<number> {
  const locks = getDeletionLocks(engine.language)
  const waiting = [...locks.alone(tenant), ...locks.beforeTurns(tenant)]
  if (waiting.length > 0) await engine.write([...waiting, note])
  const all = [note, ...queries, ...createSweepQueries(release)]
  const results = await writeAfterLock(engine, 'alone', tenant, all)
  return (results[queries.length] ?? []).length
}

function threadKey({ tenant, user, turnId }: ThreadDeletion) {
  return {
    tenant: encodeColumn(tenant),
    turnId: encodeColumn(turnId),
    user: user === null ? null : encodeColumn(user),
  }
}

function forgetting<Key>(statements: DeletionSteps<Key>, key: Key): readonly SqlQuery[] {
  const { leaveConversations, forgetEvents, removeTurns } = statements
  return [leaveConversations(key), forgetEvents(key), removeTurns(key)]
}
