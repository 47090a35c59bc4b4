/** The verbs of the memories of layers over any engine, each of them one round trip, sealed. */
import { encodeColumn, encodeNullableColumn } from '../database/escape-column-text.ts'
import type { Engine } from '../database/engine-interface.ts'
import { writeAfterLock } from '../deletion/deletion-locks.ts'
import { createLayerStatements, type NewLayerVersionRow } from './memory-layer-statements.ts'
import type {
  LayerKey,
  LayerStore,
  NewLayerVersion,
  StoredLayerVersion,
} from './memory-layer-store-interface.ts'
import { encodeOwner } from '../owner.ts'
import type { StorageCipher } from '../encryption/cipher.ts'
import type { LayerRow } from '../database/table-row-types.ts'
import {
  NO_ENCRYPTION,
  readEncryptedRows,
  type RowReader,
  type RowEncryption,
} from '../encryption/read-encrypted-rows.ts'

export function createLayerStore(engine: Engine, vault: RowEncryption = NO_ENCRYPTION): LayerStore {
  const sql = createLayerStatements(engine.language)
  return {
    async loadVersions(place) {
      const key = keyOf(place)
      const [rows = []] = await engine.read([sql.loadVersions({ ...key, limit: MOST_ROUNDS })])
      return readEncryptedRows(vault, key.tenant, (readingRows) =>
        (rows as readonly LayerRow[])
          .flatMap((row) => versionOf(row, readingRows) ?? [])
          .toReversed(),
      )
    },
    async saveVersion(version) {
      const row = rowOf(version, vault.sealer)
      const upTo = version.number - MOST_VERSIONS
      const [saved = [], forgotten = []] = await writeAfterLock(
        engine,
        'besideOthers',
        row.tenant,
        [
          sql.insertVersion(row),
          sql.removeForgotten(row),
          ...(upTo > 0 ? [sql.removeOld({ ...keyOf(version.place), upTo })] : []),
        ],
      )
      return saved.length > 0 && forgotten.length === 0
    },
    async deleteVersions(place) {
      const [deleted = []] = await engine.write([sql.deleteVersions(keyOf(place))])
      return deleted.length > 0
    },
    async touchVersions(place, nowMs) {
      await engine.write([sql.touchVersions({ ...keyOf(place), nowMs })], 'kill')
    },
  }
}

/** More than two epochs of them: what is older is not told any more. */
const MOST_ROUNDS = 48

const MOST_VERSIONS = 500

function keyOf({ owner, layer, thread }: LayerKey) {
  return { ...encodeOwner(owner), layer, thread: thread === null ? '' : encodeColumn(thread) }
}

function rowOf(version: NewLayerVersion, { seal }: StorageCipher): NewLayerVersionRow {
  const { place, parent, number, round, work } = version
  const { owner, layer, thread } = place
  const [id, tenant] = [encodeColumn(version.id), encodeColumn(owner.tenant)]
  return {
    id,
    tenant,
    user_id: encodeNullableColumn(owner.user),
    layer,
    thread: encodeNullableColumn(thread),
    number,
    round,
    body: seal(JSON.stringify(version.body), placeOf(id, tenant)),
    created_at: version.createdAtMs,
    used_at: version.usedAtMs,
    short_lived: version.isTemporary ? 1 : 0,
    parent: encodeNullableColumn(parent),
    begunAtMs: work.begunAtMs,
    of: encodeNullableColumn(work.thread),
  }
}

function placeOf(id: string, tenant: string) {
  return { tenant, turnId: id, part: 'layer', position: 0 } as const
}

/** One that cannot be read is not there. */
function versionOf(row: LayerRow, { object }: RowReader): StoredLayerVersion | null {
  const body = object(row.body, placeOf(row.id, row.tenant))
  if (body === null) return null
  const { number, round } = row
  return { number, round, body, createdAtMs: row.created_at, usedAtMs: row.used_at }
}
