/** The verbs of loaded media over any engine. */
import { toColumn } from '../database/escape-column-text.ts'
import type { Engine } from '../database/engine-interface.ts'
import { mediumId } from './extract-item-media.ts'
import { insertPieces, mediaOf, type ReadPiece } from './encode-and-restore-media-rows.ts'
import { createMediaStatements } from './media-statements.ts'
import type { LoadedMedium, MediaStore } from './fetched-media-store-interface.ts'
import type { Caller } from '../../core/client/caller.ts'
import { OPEN_VAULT, type Vault } from '../encryption/read-encrypted-rows.ts'

export function createMediaStore(engine: Engine, { sealer }: Vault = OPEN_VAULT): MediaStore {
  const sql = createMediaStatements(engine.language)
  return {
    async findLoaded(owner, { urls, hasRoom, nowMs }) {
      const loaded = new Map<string, LoadedMedium | null>()
      if (urls.length === 0) return loaded
      const tenant = toColumn(owner.tenant)
      const byId = new Map(urls.map((url) => [addressId(owner, url), url]))
      const ids = JSON.stringify([...byId.keys()])
      const [found = []] = await engine.read([sql.addresses({ tenant, ids })])
      const rows = found as readonly AddressRow[]
      if (rows.length === 0) return loaded
      const read = rows.filter(({ chars }) => hasRoom(chars))
      const wanted = JSON.stringify([...new Set(read.map(({ media_id }) => media_id))])
      const [pieces = []] = await engine.read([sql.pieces({ tenant, ids: wanted })])
      const texts = mediaOf(tenant, pieces as readonly ReadPiece[], sealer)
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
      const tenant = toColumn(owner.tenant)
      const id = mediumId(tenant, text)
      const place = {
        tenant,
        user: owner.user === null ? null : toColumn(owner.user),
        thread: thread === null ? null : toColumn(thread),
      }
      const address = { ...place, id: addressId(owner, url), mediaId: id, mime, nowMs }
      await engine.write(
        [
          sql.insertLoaded({ id, tenant, mime, chars: text.length, nowMs }),
          ...insertPieces(sql, tenant, { id, mime, text }, sealer),
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
  return mediumId(toColumn(tenant), `at ${JSON.stringify([user, url])}`)
}

interface AddressRow {
  readonly address: string
  readonly mime: string
  readonly chars: number
  readonly media_id: string
  readonly used_at: number
}
