/** The verbs of loaded media over any engine. */
import { encodeColumn } from '../database/escape-column-text.ts'
import type { Engine } from '../database/engine-interface.ts'
import { createMediaId } from './extract-item-media.ts'
import {
  createPieceInserts,
  decodeMediaPieces,
  type MediaPiece,
} from './encode-and-restore-media-rows.ts'
import { createMediaStatements } from './media-statements.ts'
import type { StoredFetchedMedia, FetchedMediaStore } from './fetched-media-store-interface.ts'
import type { Caller } from '../../core/client/caller.ts'
import { NO_ENCRYPTION, type RowEncryption } from '../encryption/read-encrypted-rows.ts'

export function createFetchedMediaStore(
  engine: Engine,
  { sealer }: RowEncryption = NO_ENCRYPTION,
): FetchedMediaStore {
  const sql = createMediaStatements(engine.language)
  return {
    async findLoaded(owner, { urls, hasRoom, nowMs }) {
      const loaded = new Map<string, StoredFetchedMedia | null>()
      if (urls.length === 0) return loaded
      const tenant = encodeColumn(owner.tenant)
      const byId = new Map(urls.map((url) => [addressId(owner, url), url]))
      const ids = JSON.stringify([...byId.keys()])
      const [found = []] = await engine.read([sql.addresses({ tenant, ids })])
      const rows = found as readonly AddressRow[]
      if (rows.length === 0) return loaded
      const read = rows.filter(({ chars }) => hasRoom(chars))
      const wanted = JSON.stringify([...new Set(read.map(({ media_id }) => media_id))])
      const [pieces = []] = await engine.read([sql.pieces({ tenant, ids: wanted })])
      const texts = decodeMediaPieces(tenant, pieces as readonly MediaPiece[], sealer)
      for (const row of rows) {
        const [url, base64] = [byId.get(row.address), texts.get(row.media_id)]
        if (url === undefined) continue
        if (base64 !== undefined) loaded.set(url, { type: row.mime, base64 })
        else if (!read.includes(row)) loaded.set(url, null)
      }
      // That they are needed is said once a day.
      const dayAgoMs = nowMs - DAY_MS
      if (rows.some(({ used_at: usedAtMs }) => usedAtMs < dayAgoMs)) {
        await engine.write([sql.touchAddresses({ tenant, ids, nowMs, dayAgoMs })], 'kill')
      }
      return loaded
    },
    async keepLoaded({ thread, ...owner }, url, { type: mime, base64: text }, nowMs) {
      const tenant = encodeColumn(owner.tenant)
      const id = createMediaId(tenant, text)
      const place = {
        tenant,
        user: owner.user === null ? null : encodeColumn(owner.user),
        thread: thread === null ? null : encodeColumn(thread),
      }
      const address = { ...place, id: addressId(owner, url), mediaId: id, mime, nowMs }
      await engine.write(
        [
          sql.insertLoaded({ id, tenant, mime, chars: text.length, nowMs }),
          ...createPieceInserts(sql, tenant, { id, mime, text }, sealer),
          sql.insertAddress(address),
          sql.releaseUnshown({ id }),
        ],
        'kill',
      )
    },
  }
}

const DAY_MS = 24 * 60 * 60 * 1000

/** Of its owner alone: what one user had loaded is not shown to another. */
function addressId({ tenant, user }: Caller, url: string): string {
  return createMediaId(encodeColumn(tenant), `at ${JSON.stringify([user, url])}`)
}

interface AddressRow {
  readonly address: string
  readonly mime: string
  readonly chars: number
  readonly media_id: string
  readonly used_at: number
}
