/**
 * SQL implementation of `SummaryStore` for any engine. Each method takes one round trip. Texts are
 * encrypted.
 */
import {
  decodeColumnText,
  encodeColumnText,
  encodeNullableColumn,
  decodeNullableColumnText,
} from '../database/encode-column-text.ts'
import type { Engine } from '../database/engine-interface.ts'
import { writeAfterLock } from '../deletion/deletion-locks.ts'
import { encodeOwnedRowKey, encodeOwner } from '../owner.ts'
import { locateText, type StorageCipher } from '../encryption/cipher.ts'
import { createSummaryStatements, type NewSummaryRow } from './summary-statements.ts'
import type { NewSummary, StoredSummary, SummaryStore } from './summary-store-interface.ts'
import type { SummaryRow } from '../database/table-row-types.ts'
import {
  NO_ENCRYPTION,
  decryptRows,
  type RowReader,
  type RowEncryption,
} from '../encryption/decrypt-rows.ts'

export function createSummaryStore(
  engine: Engine,
  encryption: RowEncryption = NO_ENCRYPTION,
): SummaryStore {
  const sql = createSummaryStatements(engine.language)
  return {
    async findSummaries(owner, prefixHashes, limit, rule = 'leave-out') {
      if (prefixHashes.length === 0) return []
      const key = encodeOwner(owner)
      const search = { ...key, hashes: JSON.stringify(prefixHashes), limit }
      const [rows = []] = await engine.read([sql.findSummaries(search)])
      return decryptRows(
        encryption,
        key,
        (reader) =>
          (rows as readonly SummaryRow[]).flatMap((row) => decodeSummary(row, reader) ?? []),
        { rule },
      )
    },
    async saveSummary(summary, replaces = false) {
      const row = encodeSummary(summary, encryption.cipher)
      const [, saved = [], deleted = []] = await writeAfterLock(
        engine,
        'derivedDataWrite',
        row.tenant,
        [
          sql.removeErased(row),
          replaces ? sql.replaceSummary(row) : sql.insertSummary(row),
          sql.removeIfSourceDeleted(row),
        ],
      )
      return saved.length > 0 && deleted.length === 0
    },
    async touchSummary(owner, id, nowMs) {
      await engine.write([sql.touchSummary({ ...encodeOwnedRowKey(owner, id), nowMs })], 'kill')
    },
    async deleteSummary(owner, id) {
      const [deleted = []] = await engine.write([sql.deleteSummary(encodeOwnedRowKey(owner, id))])
      return deleted.length > 0
    },
  }
}

function encodeSummary(summary: NewSummary, { encrypt }: StorageCipher): NewSummaryRow {
  const { id, tenant, user } = encodeOwnedRowKey(summary, summary.id)
  const { text, facts } = summary
  return {
    id,
    tenant,
    user_id: encodeNullableColumn(summary.user),
    turnId: encodeNullableColumn(summary.turnId),
    parentTurnId: encodeNullableColumn(summary.parentTurnId),
    conversation: encodeNullableColumn(summary.conversation),
    prefix_hash: summary.prefixHash,
    turns: summary.roundCount,
    items: summary.itemCount,
    body: encrypt(JSON.stringify({ text, facts }), locateText({ tenant, user }, id, 'summary')),
    tokens_before: summary.tokensBefore,
    tokens_after: summary.tokensAfter,
    model: encodeColumnText(summary.model),
    prompt_version: summary.promptVersion,
    made_from: encodeNullableColumn(summary.extendedSummaryId),
    generation: summary.generation,
    created_at: summary.createdAtMs,
    used_at: summary.usedAtMs,
    short_lived: summary.isTemporary ? 1 : 0,
    jobStartedAtMs: summary.jobStartedAtMs,
  }
}

/** Decodes a summary; returns `null` if it cannot be decrypted. */
function decodeSummary(row: SummaryRow, { decryptObject }: RowReader): StoredSummary | null {
  const body = decryptObject(row.body, { rowId: row.id, part: 'summary', position: 0 })
  if (body === null) return null
  const { text, facts } = body
  if (typeof text !== 'string') return null
  return {
    id: decodeColumnText(row.id),
    tenant: decodeColumnText(row.tenant),
    user: decodeNullableColumnText(row.user_id),
    conversation: decodeNullableColumnText(row.conversation),
    prefixHash: row.prefix_hash,
    roundCount: row.turns,
    itemCount: row.items,
    text,
    facts: Array.isArray(facts) ? (facts as readonly string[]) : [],
    tokensBefore: row.tokens_before,
    tokensAfter: row.tokens_after,
    model: decodeColumnText(row.model),
    promptVersion: row.prompt_version,
    extendedSummaryId: decodeNullableColumnText(row.made_from),
    generation: row.generation,
    createdAtMs: row.created_at,
    usedAtMs: row.used_at,
    isTemporary: row.short_lived === 1,
  }
}
