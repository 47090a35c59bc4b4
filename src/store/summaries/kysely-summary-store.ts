/** The verbs of summaries over any engine, each of them one round trip. What one says is sealed. */
import {
  decodeColumn,
  encodeColumn,
  encodeNullableColumn,
  decodeNullableColumn,
} from '../database/escape-column-text.ts'
import type { Engine } from '../database/engine-interface.ts'
import { writeAfterLock } from '../deletion/deletion-locks.ts'
import { encodeOwner } from '../owner.ts'
import type { StorageCipher } from '../encryption/cipher.ts'
import { createSummaryStatements, type NewSummaryRow } from './summary-statements.ts'
import type { NewSummary, StoredSummary, SummaryStore } from './summary-store-interface.ts'
import type { SummaryRow } from '../database/table-row-types.ts'
import {
  NO_ENCRYPTION,
  readEncryptedRows,
  type RowReader,
  type RowEncryption,
} from '../encryption/read-encrypted-rows.ts'

export function createSummaryStore(
  engine: Engine,
  vault: RowEncryption = NO_ENCRYPTION,
): SummaryStore {
  const sql = createSummaryStatements(engine.language)
  return {
    async findSummaries(owner, prefixHashes, limit) {
      if (prefixHashes.length === 0) return []
      const key = encodeOwner(owner)
      const search = { ...key, hashes: JSON.stringify(prefixHashes), limit }
      const [rows = []] = await engine.read([sql.findSummaries(search)])
      return readEncryptedRows(vault, key.tenant, (readingRows) =>
        (rows as readonly SummaryRow[]).flatMap((row) => summaryOf(row, readingRows) ?? []),
      )
    },
    async saveSummary(summary, replaces = false) {
      const row = rowOf(summary, vault.sealer)
      const [saved = [], forgotten = []] = await writeAfterLock(
        engine,
        'besideOthers',
        row.tenant,
        [replaces ? sql.replaceSummary(row) : sql.insertSummary(row), sql.removeForgotten(row)],
      )
      return saved.length > 0 && forgotten.length === 0
    },
    async touchSummary(owner, id, nowMs) {
      await engine.write(
        [sql.touchSummary({ ...encodeOwner(owner), id: encodeColumn(id), nowMs })],
        'kill',
      )
    },
    async deleteSummary(owner, id) {
      const key = { ...encodeOwner(owner), id: encodeColumn(id) }
      const [deleted = []] = await engine.write([sql.deleteSummary(key)])
      return deleted.length > 0
    },
  }
}

function rowOf(summary: NewSummary, { seal }: StorageCipher): NewSummaryRow {
  const [id, tenant] = [encodeColumn(summary.id), encodeColumn(summary.tenant)]
  const { text, facts } = summary
  return {
    id,
    tenant,
    user_id: encodeNullableColumn(summary.user),
    turn: encodeNullableColumn(summary.turn),
    parent: encodeNullableColumn(summary.parent),
    conversation: encodeNullableColumn(summary.conversation),
    prefix_hash: summary.prefixHash,
    turns: summary.turns,
    items: summary.items,
    body: seal(JSON.stringify({ text, facts }), placeOf(id, tenant)),
    tokens_before: summary.tokensBefore,
    tokens_after: summary.tokensAfter,
    model: encodeColumn(summary.model),
    prompt_version: summary.promptVersion,
    made_from: encodeNullableColumn(summary.madeFrom),
    generation: summary.generation,
    created_at: summary.createdAtMs,
    used_at: summary.usedAtMs,
    short_lived: summary.isTemporary ? 1 : 0,
    begunAtMs: summary.begunAtMs,
  }
}

function placeOf(id: string, tenant: string) {
  return { tenant, turnId: id, part: 'summary', position: 0 } as const
}

/** One that cannot be read is not there. */
function summaryOf(row: SummaryRow, { object }: RowReader): StoredSummary | null {
  const body = object(row.body, placeOf(row.id, row.tenant))
  if (body === null) return null
  const { text, facts } = body
  if (typeof text !== 'string') return null
  return {
    id: decodeColumn(row.id),
    tenant: decodeColumn(row.tenant),
    user: decodeNullableColumn(row.user_id),
    conversation: decodeNullableColumn(row.conversation),
    prefixHash: row.prefix_hash,
    turns: row.turns,
    items: row.items,
    text,
    facts: Array.isArray(facts) ? (facts as readonly string[]) : [],
    tokensBefore: row.tokens_before,
    tokensAfter: row.tokens_after,
    model: decodeColumn(row.model),
    promptVersion: row.prompt_version,
    madeFrom: decodeNullableColumn(row.made_from),
    generation: row.generation,
    createdAtMs: row.created_at,
    usedAtMs: row.used_at,
    isTemporary: row.short_lived === 1,
  }
}
