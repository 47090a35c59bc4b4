/**
 * SQL implementation of `MemoryLayerStore` for any engine. Each method takes one round trip. Texts are
 * encrypted.
 */
import { encodeColumnText, encodeNullableColumn } from '../database/encode-column-text.ts'
import type { Engine } from '../database/engine-interface.ts'
import { writeAfterLock } from '../deletion/deletion-locks.ts'
import { createMemoryLayerStatements, type NewLayerVersionRow } from './memory-layer-statements.ts'
import type {
  LayerKey,
  MemoryLayerStore,
  NewLayerVersion,
  StoredLayerVersion,
} from './memory-layer-store-interface.ts'
import { encodeOwnedRowKey, encodeOwner } from '../owner.ts'
import { locateText, type StorageCipher } from '../encryption/cipher.ts'
import type { LayerRow } from '../database/table-row-types.ts'
import {
  NO_ENCRYPTION,
  decryptRows,
  type RowReader,
  type RowEncryption,
} from '../encryption/decrypt-rows.ts'

export function createMemoryLayerStore(
  engine: Engine,
  encryption: RowEncryption = NO_ENCRYPTION,
): MemoryLayerStore {
  const sql = createMemoryLayerStatements(engine.language)
  return {
    async loadVersions(layerKey, rule = 'leave-out') {
      const key = encodeLayerKey(layerKey)
      const [rows = []] = await engine.read([
        sql.loadVersions({ ...key, limit: MAX_LOADED_ROUNDS }),
      ])
      return decryptRows(
        encryption,
        key,
        (reader) =>
          (rows as readonly LayerRow[])
            .flatMap((row) => decodeVersion(row, reader) ?? [])
            .toReversed(),
        { rule },
      )
    },
    async saveVersion(version) {
      const row = encodeVersion(version, encryption.cipher)
      const upTo = version.number - MAX_STORED_VERSIONS
      const [, saved = [], deleted = []] = await writeAfterLock(
        engine,
        'derivedDataWrite',
        row.tenant,
        [
          sql.removeErased(row),
          sql.insertVersion(row),
          sql.removeIfSourceDeleted(row),
          ...(upTo > 0 ? [sql.removeOld({ ...encodeLayerKey(version.key), upTo })] : []),
        ],
      )
      return saved.length > 0 && deleted.length === 0
    },
    async deleteVersions(layerKey) {
      const [deleted = []] = await engine.write([sql.deleteVersions(encodeLayerKey(layerKey))])
      return deleted.length > 0
    },
    async touchVersions(layerKey, nowMs) {
      await engine.write([sql.touchVersions({ ...encodeLayerKey(layerKey), nowMs })], 'kill')
    },
  }
}

/** Number of rounds whose versions are loaded. Prompts include no older versions. */
const MAX_LOADED_ROUNDS = 48

const MAX_STORED_VERSIONS = 500

function encodeLayerKey({ owner, layer, thread }: LayerKey) {
  return { ...encodeOwner(owner), layer, thread: thread === null ? '' : encodeColumnText(thread) }
}

function encodeVersion(version: NewLayerVersion, { encrypt }: StorageCipher): NewLayerVersionRow {
  const { key, parentTurnId, number, round, derivedFrom } = version
  const { owner, layer, thread } = key
  const { id, tenant, user } = encodeOwnedRowKey(owner, version.id)
  return {
    id,
    tenant,
    user_id: encodeNullableColumn(owner.user),
    layer,
    thread: encodeNullableColumn(thread),
    number,
    round,
    body: encrypt(JSON.stringify(version.body), locateText({ tenant, user }, id, 'layer')),
    created_at: version.createdAtMs,
    used_at: version.usedAtMs,
    short_lived: version.isTemporary ? 1 : 0,
    parentTurnId: encodeNullableColumn(parentTurnId),
    jobStartedAtMs: derivedFrom.jobStartedAtMs,
    sourceId: encodeNullableColumn(derivedFrom.thread),
  }
}

/** Decodes a version; returns `null` if it cannot be decrypted. */
function decodeVersion(row: LayerRow, { decryptObject }: RowReader): StoredLayerVersion | null {
  const body = decryptObject(row.body, { rowId: row.id, part: 'layer', position: 0 })
  if (body === null) return null
  const { number, round } = row
  return { number, round, body, createdAtMs: row.created_at, usedAtMs: row.used_at }
}
