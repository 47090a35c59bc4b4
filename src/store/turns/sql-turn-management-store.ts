/**
 * SQL implementation of `TurnManagementStore` for any engine. Each method takes one round trip, or
 * two if it returns items with media. Large or empty turns and large items take more.
 */
import {
  createTurnManagementStatements,
  type TurnManagementStatements,
  type TurnListQuery,
  type TurnPageShape,
} from './turn-management-statements.ts'
import type {
  TurnManagementStore,
  TurnFoundByContent,
  TurnDeletionResult,
  TurnPage,
} from './turn-management-store-interface.ts'
import { decodeColumnText, encodeColumnText } from '../database/encode-column-text.ts'
import { resolvePageStart } from '../database/resolve-page-start.ts'
import type { Engine, SqlQuery, SqlRows } from '../database/engine-interface.ts'
import { writeAfterLock } from '../deletion/deletion-locks.ts'
import { createDeletionLogStatements } from '../deletion/deletion-log-statements.ts'
import { createErasureStatements } from '../deletion/erasure-statements.ts'
import { createErasureRunner } from '../deletion/run-erasure.ts'
import { createItemFinder } from './find-items.ts'
import { decryptTurnRows } from './decrypt-turn-rows.ts'
import { encodeOwnedRowKey, encodeOwner } from '../owner.ts'
import { decodeDigests, decodeSeparateTurns, type ItemBodyRow } from './decode-turn-rows.ts'
import {
  createMediaReleaseStatements,
  buildReleaseQueries,
  buildSweepQueries,
} from '../media/media-release-statements.ts'
import { claimItemMemory, sumBytes } from './read-items-in-slices.ts'
import { createTurnPartLoader } from './load-turn-parts.ts'
import { createTurnStatements } from './turn-statements.ts'
import { ITEM_OVERHEAD_BYTES } from '../recall/recall-store-interface.ts'
import { createSummaryStatements } from '../summaries/summary-statements.ts'
import type { TurnRow } from '../database/table-row-types.ts'
import {
  NO_ENCRYPTION,
  decryptRows,
  type RowReader,
  type RowEncryption,
} from '../encryption/decrypt-rows.ts'

export function createTurnManagementStore(
  engine: Engine,
  encryption: RowEncryption = NO_ENCRYPTION,
): TurnManagementStore {
  const sql = createTurnManagementStatements(engine.language)
  const turnSql = createTurnStatements(engine.language)
  const summaries = createSummaryStatements(engine.language)
  const mediaRelease = createMediaReleaseStatements(engine.language)
  const deletionLog = createDeletionLogStatements(engine.language)
  const erasureSql = createErasureStatements(engine.language)
  const erasures = createErasureRunner(engine)
  return {
    ...createTurnPartLoader(engine, encryption),
    async deleteTurn({ turnId, dialect, nowMs, ...owner }) {
      const key = encodeOwnedRowKey(owner, turnId)
      const run = erasures.createRun()
      const [before = [], , , , rest = []] = await writeAfterLock(engine, 'deletion', key.tenant, [
        sql.turnState(key),
        sql.markDeleted({ ...key, dialect, nowMs }),
        deletionLog.logThreadOfDeletedTurn({ ...key, nowMs }),
        sql.deleteEvents(key),
        erasureSql.insertOfTurn({ ...key, ...run, nowMs }),
        sql.deletePiecesOfEvents(key),
        summaries.removeOfDeleted(key),
        ...buildReleaseQueries(mediaRelease.ofDeleted, key),
        sql.deleteTurns(key),
        ...buildSweepQueries(mediaRelease),
      ])
      await erasures.finishInTime(rest, run)
      return chooseDeletionResult(before, dialect)
    },
    async replaceMetadata({ turnId, dialect, metadata, ...owner }) {
      const labels = {
        ...encodeOwnedRowKey(owner, turnId),
        dialect,
        metadata: JSON.stringify(metadata),
      }
      const [rows = []] = await engine.write([sql.updateMetadata(labels)])
      return rows.length > 0
    },
    async listTurns(page, claimMemory = () => undefined) {
      const [turns = [], outputs = []] = await engine.read(buildListQueries(sql, page))
      const owner = encodeOwner(page)
      const itemRows = outputs as readonly ItemBodyRow[]
      const sizes = itemRows.map(({ body }) => ({ bytes: body.length + ITEM_OVERHEAD_BYTES }))
      const requests = (turns as readonly TurnRow[]).map(({ request }) => ({
        bytes: request.length,
      }))
      claimItemMemory(sumBytes([...sizes, ...requests]), itemRows.length, claimMemory)
      const { failures, ...decrypted } = await decryptTurnRows(
        engine,
        turnSql.media,
        owner,
        { turns: turns as readonly TurnRow[], items: itemRows },
        encryption,
        { claimMemory, claimsMedia: true },
      )
      return decryptRows(
        encryption,
        owner,
        (reader) => decodeSeparateTurns(decrypted.turns, decrypted.items, reader),
        { rule: 'fail', failures },
      )
    },
    findItems: createItemFinder(engine, encryption),
    async findTurnByContent({ hashes, ...owner }) {
      if (hashes.length === 0) return null
      const search = { ...encodeOwner(owner), hashes }
      const [turns = []] = await engine.read([sql.findTurnsByContent(search)])
      return decryptRows(encryption, search, (rows) =>
        decodeFirstMatch(hashes, turns as readonly ContentRow[], rows),
      )
    },
  }
}

function chooseDeletionResult(before: SqlRows, dialect: string): TurnDeletionResult {
  const [turn] = before as readonly Pick<TurnRow, 'state' | 'dialect' | 'deleted_at'>[]
  if (turn === undefined || turn.dialect !== dialect || turn.deleted_at !== null) return 'unknown'
  return turn.state === 'queued' || turn.state === 'open' ? 'running' : 'deleted'
}

function buildListQueries(sql: TurnManagementStatements, page: TurnPage): readonly SqlQuery[] {
  const labels = Object.entries(page.metadata).map(
    ([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`,
  )
  const hasModel = page.model !== null
  const shape: TurnPageShape = { order: page.order, labelCount: labels.length, hasModel }
  const values: TurnListQuery = {
    ...encodeOwner(page),
    after: resolvePageStart(page.after, page.order),
    limit: page.limit,
    model: page.model === null ? '' : encodeColumnText(page.model),
    labels,
  }
  return [sql.listTurns(shape)(values), sql.listItems(shape)(values)]
}

type ContentRow = Pick<TurnRow, 'id' | 'thread' | 'depth' | 'digests'> & {
  readonly content_hash: string
}

function decodeFirstMatch(
  hashes: readonly string[],
  rows: readonly ContentRow[],
  reader: RowReader,
): TurnFoundByContent | null {
  for (const hash of hashes) {
    const row = rows.find((row) => row.content_hash === hash)
    if (row === undefined) continue
    const { id, thread, depth } = row
    return {
      id: decodeColumnText(id),
      thread: decodeColumnText(thread),
      depth,
      digests: decodeDigests(row, reader),
      contentHash: hash,
    }
  }
  return null
}
