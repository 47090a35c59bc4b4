/** SQL implementation of `FetchedMediaStore` for any engine. */
import { encodeColumnText, encodeNullableColumn } from '../database/encode-column-text.ts'
import type { Engine } from '../database/engine-interface.ts'
import { createMediaId } from './extract-item-media.ts'
import {
  buildPieceInserts,
  decodeMediaPieces,
  type MediaPiece,
} from './encode-and-restore-media-rows.ts'
import { createMediaStatements } from './media-statements.ts'
import type { StoredFetchedMedia, FetchedMediaStore } from './fetched-media-store-interface.ts'
import type { Caller } from '../../core/client/caller.ts'
import { NO_ENCRYPTION, type RowEncryption } from '../encryption/decrypt-rows.ts'

export function createFetchedMediaStore(
  engine: Engine,
  { cipher }: RowEncryption = NO_ENCRYPTION,
): FetchedMediaStore {
  const sql = createMediaStatements(engine.language)
  return {
    async findMedia(owner, { urls, fitsInMemory, nowMs }) {
      const loaded = new Map<string, StoredFetchedMedia | null>()
      if (urls.length === 0) return loaded
      const tenant = encodeColumnText(owner.tenant)
      const byId = new Map(urls.map((url) => [createAddressId(owner, url), url]))
      const ids = JSON.stringify([...byId.keys()])
      const [addressRows = []] = await engine.read([sql.selectAddresses({ tenant, ids })])
      const rows = addressRows as readonly FoundAddressRow[]
      if (rows.length === 0) return loaded
      const readable = rows.filter(({ chars }) => fitsInMemory(chars))
      const wanted = JSON.stringify([...new Set(readable.map(({ media_id }) => media_id))])
      const [pieces = []] = await engine.read([sql.selectPieces({ tenant, ids: wanted })])
      const { texts } = decodeMediaPieces(tenant, pieces as readonly MediaPiece[], cipher)
      for (const row of rows) {
        const [url, base64] = [byId.get(row.address), texts.get(row.media_id)]
        if (url === undefined) continue
        if (base64 !== undefined) loaded.set(url, { type: row.mime, base64 })
        else if (!readable.includes(row)) loaded.set(url, null)
      }
      // Updates the time of last use at most once a day.
      const dayAgoMs = nowMs - DAY_MS
      if (rows.some(({ used_at: usedAtMs }) => usedAtMs < dayAgoMs)) {
        await engine.write([sql.touchAddresses({ tenant, ids, nowMs, dayAgoMs })], 'kill')
      }
      return loaded
    },
    async saveMedium({ thread, ...owner }, url, { type: mime, base64: text }, nowMs) {
      const tenant = encodeColumnText(owner.tenant)
      const id = createMediaId(tenant, text)
      const ownerColumns = {
        tenant,
        user: encodeNullableColumn(owner.user),
        thread: encodeNullableColumn(thread),
      }
      const address = { ...ownerColumns, id: createAddressId(owner, url), mediaId: id, mime, nowMs }
      await engine.write(
        [
          sql.insertFetched({ id, tenant, mime, chars: text.length, nowMs }),
          ...buildPieceInserts(sql, tenant, { id, mime, text }, cipher),
          sql.insertAddress(address),
          sql.releaseIfUnused({ id }),
        ],
        'kill',
      )
    },
  }
}

const DAY_MS = 24 * 60 * 60 * 1000

/**
 * Returns the id of a URL for one owner, so that other users of the tenant do not see its medium.
 */
function createAddressId({ tenant, user }: Caller, url: string): string {
  return createMediaId(encodeColumnText(tenant), `at ${JSON.stringify([user, url])}`)
}

interface FoundAddressRow {
  readonly address: string
  readonly mime: string
  readonly chars: number
  readonly media_id: string
  readonly used_at: number
}
