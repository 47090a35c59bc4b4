/**
 * Deletes the expired turns of one page. First reads which turns can be deleted, so that a page of turns that must stay
 * costs no write. Then deletes them in short transactions, which check this again.
 */
import { createAnswerMessageStatements } from '../recall/answer-message-statements.ts'
import { decodeColumnText, encodeColumnText } from '../database/encode-column-text.ts'
import type { Engine, SqlQuery, SqlRows } from '../database/engine-interface.ts'
import type { TurnRow } from '../database/table-row-types.ts'
import { createFactStatements } from '../facts/fact-statements.ts'
import { createIdempotencyStatements } from '../idempotency/idempotency-statements.ts'
import {
  createMediaReleaseStatements,
  buildSweepQueries,
} from '../media/media-release-statements.ts'
import { createMemoryLayerStatements } from '../memory-layers/memory-layer-statements.ts'
import { createSummaryStatements } from '../summaries/summary-statements.ts'
import { createDeletionLogStatements } from './deletion-log-statements.ts'
import { createErasureStatements, type ErasureRow } from './erasure-statements.ts'
import {
  createExpiryAndDeletionStatements,
  type ExpiryPage,
} from './expiry-and-deletion-statements.ts'
import type {
  ExpiryAndDeletionStore,
  ExpiryCursor,
  ExpiryPageRequest,
} from './expiry-and-deletion-store-interface.ts'
import { splitTurns, type ErasureRunner } from './run-erasure.ts'
import { createSliceSize } from './slice-size.ts'
import type { SizedTurnId } from './slice-writer-interface.ts'
import { MAX_SLICE_BYTES } from './turn-slice-statements.ts'

export function createTurnExpiry(
  engine: Engine,
  erasures: ErasureRunner,
): ExpiryAndDeletionStore['expireTurns'] {
  const sql = createExpiryAndDeletionStatements(engine.language)
  const erasureSql = createErasureStatements(engine.language)
  const mediaRelease = createMediaReleaseStatements(engine.language)
  const buildCleanUp = createCleanUpBuilder(engine.language)
  const size = createSliceSize()

  const deleteTurns = async (
    turns: readonly SizedTurnId[],
    { chats, unusedSinceMs }: ExpiryPageRequest,
  ): Promise<number> => {
    const slice = { unusedSinceMs, turnIds: JSON.stringify(turns.map(({ id }) => id)) }
    const queries = [
      sql.deleteEventsOfUnused(chats)(slice),
      sql.releaseMediaOfUnused(chats)(slice),
      sql.removeUnused(chats)(slice),
      ...buildSweepQueries(mediaRelease),
    ]
    const results = await size.run(() => engine.write(queries, 'kill'))
    return (results[2] ?? []).length
  }
  /** A turn that is too large for one transaction is hidden first, and then deleted in several. */
  const deleteLargeTurn = async (
    { id }: SizedTurnId,
    { chats, unusedSinceMs, nowMs }: ExpiryPageRequest,
  ): Promise<number> => {
    const run = erasures.createRun()
    const mark = sql.markUnused(chats)({ unusedSinceMs, turnIds: JSON.stringify([id]), nowMs })
    const insert = erasureSql.insertOfMarkedTurn({ id, ...run, nowMs })
    const [, [inserted] = []] = await engine.write([mark, insert])
    return inserted === undefined
      ? 0
      : erasures.finish({ ...run, erasureId: (inserted as ErasureRow).id })
  }
  return async (expiry) => {
    const page = encodePage(expiry)
    const [unused = [], deletable = []] = await engine.read([
      sql.unusedTurns(expiry.chats)(page),
      sql.deletableTurns(expiry.chats)(page),
    ])
    let deletedCount = 0
    for (const turns of splitTurns(deletable as readonly SizedTurnId[], size)) {
      const [first] = turns
      const isLarge = first !== undefined && turns.length === 1 && first.bytes > MAX_SLICE_BYTES
      deletedCount += isLarge
        ? await deleteLargeTurn(first, expiry)
        : await deleteTurns(turns, expiry)
    }
    for (let round = 0; round < MAX_CLEAN_UPS; round += 1) {
      const limit = Math.min(expiry.limit, size.getRows())
      const results = await size.run(() => engine.write(buildCleanUp(expiry, limit), 'kill'))
      if (results.every((rows) => rows.length < limit)) break
    }
    return { deletedCount, next: findNextPage(unused, expiry.limit) }
  }
}

/** Maximum number of transactions that delete other unused rows, with each page of turns. */
const MAX_CLEAN_UPS = 20

/** Returns a function that builds the queries that delete other expired rows, at most `limit` of each kind. */
function createCleanUpBuilder(language: Engine['language']) {
  const deletionLog = createDeletionLogStatements(language)
  const mediaRelease = createMediaReleaseStatements(language)
  const summaries = createSummaryStatements(language)
  const facts = createFactStatements(language)
  const layers = createMemoryLayerStatements(language)
  const answerMessages = createAnswerMessageStatements(language)
  const idempotency = createIdempotencyStatements(language)
  return (
    { chats, unusedSinceMs, nowMs, after }: ExpiryPageRequest,
    limit: number,
  ): readonly SqlQuery[] => {
    const unused = { unusedSinceMs, limit }
    return [
      summaries.removeUnused(chats)(unused),
      layers.removeUnused(chats)(unused),
      answerMessages.removeUnused(chats)(unused),
      ...(chats === 'all'
        ? [
            mediaRelease.unused.releaseFetched(unused),
            mediaRelease.unused.removeAddresses(unused),
            facts.removeUnused(unused),
          ]
        : []),
      ...buildSweepQueries(mediaRelease),
      ...(after === null
        ? [
            facts.removeExpired({ nowMs, limit }),
            deletionLog.removeOldEntries({ nowMs }),
            idempotency.removeExpired({ nowMs, limit }),
          ]
        : []),
    ]
  }
}

function encodePage({ unusedSinceMs, after, limit }: ExpiryPageRequest): ExpiryPage {
  // An earlier search may have stopped at a later time than this search begins with.
  const isUsable = after !== null && after.usedAtMs < unusedSinceMs
  return {
    unusedSinceMs,
    afterMs: isUsable ? after.usedAtMs : unusedSinceMs,
    afterId: isUsable ? encodeColumnText(after.turnId) : '',
    limit,
  }
}

function findNextPage(unused: SqlRows, limit: number): ExpiryCursor | null {
  const last = unused.at(-1) as Pick<TurnRow, 'used_at' | 'id'> | undefined
  if (last === undefined || unused.length < limit) return null
  return { usedAtMs: last.used_at, turnId: decodeColumnText(last.id) }
}
