/**
 * SQL implementation of expiry and deletion for any engine. Expired turns are deleted page by page. A deletion of a
 * thread or user begins with one short transaction, which hides everything; then an erasure deletes it.
 */
import { encodeColumnText, encodeNullableColumn } from '../database/encode-column-text.ts'
import type { Engine, SqlQuery } from '../database/engine-interface.ts'
import { createAnswerMessageStatements } from '../recall/answer-message-statements.ts'
import { createFactStatements } from '../facts/fact-statements.ts'
import { getDeletionLocks } from './deletion-locks.ts'
import { createDeletionLogStatements } from './deletion-log-statements.ts'
import { createErasureStatements, type ErasureRow, type ErasureRun } from './erasure-statements.ts'
import { createTurnExpiry } from './expire-turns.ts'
import { createExpiryCursors } from './expiry-cursors.ts'
import { createMemoryLayerStatements } from '../memory-layers/memory-layer-statements.ts'
import type {
  ExpiryAndDeletionStore,
  ThreadDeletion,
} from './expiry-and-deletion-store-interface.ts'
import {
  createMediaReleaseStatements,
  buildReleaseQueries,
} from '../media/media-release-statements.ts'
import { createErasureRunner } from './run-erasure.ts'
import { createSummaryStatements } from '../summaries/summary-statements.ts'

export function createExpiryAndDeletionStore(engine: Engine): ExpiryAndDeletionStore {
  const sql = createErasureStatements(engine.language)
  const deletionLog = createDeletionLogStatements(engine.language)
  const mediaRelease = createMediaReleaseStatements(engine.language)
  const summaries = createSummaryStatements(engine.language)
  const answerMessages = createAnswerMessageStatements(engine.language)
  const facts = createFactStatements(engine.language)
  const layers = createMemoryLayerStatements(engine.language)
  const erasures = createErasureRunner(engine)
  const locks = getDeletionLocks(engine.language)
  /** Runs the queries in one transaction, and then the erasure that the last of them has inserted. */
  const eraseAfter = async (
    tenant: string,
    run: ErasureRun,
    queries: readonly SqlQuery[],
    onProgress?: (turns: number) => void,
  ): Promise<number> => {
    const lockQueries = [...locks.deletion(tenant), ...locks.deletionLogEntry(tenant)]
    const results = await engine.write([...lockQueries, ...queries])
    const [inserted] = results.at(-1) ?? []
    if (inserted === undefined) return 0
    return erasures.finish({ ...run, erasureId: (inserted as ErasureRow).id }, onProgress)
  }
  return {
    expireTurns: createTurnExpiry(engine, erasures),
    ...createExpiryCursors(engine),
    resumeDeletions: erasures.resume,
    async deleteThread(thread, onProgress) {
      const run = erasures.createRun()
      const key = { ...encodeThreadKey(thread), ...run, nowMs: thread.nowMs }
      const queries = [
        deletionLog.logThread(key),
        summaries.removeOfThread(key),
        answerMessages.removeOfThread(key),
        facts.removeOfThread(key),
        layers.removeOfThread(key),
        ...buildReleaseQueries(mediaRelease.ofThread, key),
        sql.limitTimesOfThread(key),
        sql.insertOfThread(key),
      ]
      return eraseAfter(key.tenant, run, queries, onProgress)
    },
    async deleteUser(tenant, user, nowMs, onProgress) {
      const run = erasures.createRun()
      const owner = { tenant: encodeColumnText(tenant), user: encodeColumnText(user) }
      const key = { ...owner, ...run, nowMs }
      const queries = [
        deletionLog.logUser(key),
        ...sql.limitTimesOfUser.map((limitTimes) => limitTimes(key)),
        sql.insertOfUser(key),
      ]
      return eraseAfter(key.tenant, run, queries, onProgress)
    },
  }
}

function encodeThreadKey({ tenant, user, turnId }: ThreadDeletion) {
  return {
    tenant: encodeColumnText(tenant),
    turnId: encodeColumnText(turnId),
    user: encodeNullableColumn(user),
  }
}
