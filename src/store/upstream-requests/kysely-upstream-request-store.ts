/**
 * Requests over any engine. What was kept or read lately is at hand, because the next turn of the
 * conversation is told from it; without that, each would begin with a read.
 */
import { encodeColumn } from '../database/escape-column-text.ts'
import type { Engine, SqlQuery } from '../database/engine-interface.ts'
import { listMediaReferences } from '../media/extract-item-media.ts'
import {
  createMediaInserts,
  decodeMediaPieces,
  type MediaPiece,
} from '../media/encode-and-restore-media-rows.ts'
import { createMediaStatements } from '../media/media-statements.ts'
import { encodeOwner } from '../owner.ts'
import type { Caller } from '../../core/client/caller.ts'
import { createLruCache } from '../lru-cache.ts'
import {
  createUpstreamRequestStatements,
  MAX_REQUEST_ROWS,
  type TurnItemRow,
  type RequestChainRow,
} from './upstream-request-statements.ts'
import { encodeRequestRows, type DeltaChainRequest } from './encode-request-rows.ts'
import type { UpstreamRequestStore, RoundRequest } from './upstream-request-store-interface.ts'
import { decodeRequestRows, findTurnsWithCopies } from './decode-request-rows.ts'
import { restoreTextMedia } from '../media/extract-text-media.ts'
import { NO_ENCRYPTION, type RowEncryption } from '../encryption/read-encrypted-rows.ts'
import { NO_ITEM_TEXTS, type ItemTextCache } from './item-text-cache.ts'

export function createUpstreamRequestStore(
  engine: Engine,
  vault: RowEncryption = NO_ENCRYPTION,
  texts: ItemTextCache = NO_ITEM_TEXTS,
): UpstreamRequestStore {
  const sql = createUpstreamRequestStatements(engine.language)
  const media = createMediaStatements(engine.language)
  const lately = createLruCache(CACHED_CHARS, sizeOf)
  const underWay = new Map<string, Promise<void>>()
  /** Told from what cannot be read any more is nothing: the next is whole again. */
  const quiet: RowEncryption = { ...vault, onUnreadable: () => {} }

  const itemsBeside = async (tenant: string, rows: readonly RequestChainRow[]) => {
    const turnIds = findTurnsWithCopies(rows)
    if (turnIds.length === 0) return []
    const [beside = []] = await engine.read([
      sql.itemsBeside({ tenant, turnIds: JSON.stringify(turnIds) }),
    ])
    return beside as readonly TurnItemRow[]
  }
  /** The last one, unless a round is named. Only the last is at hand: the next turn is told from it. */
  const load = async (
    owner: Caller,
    turnId: string,
    {
      round = null,
      read = vault,
    }: { readonly round?: number | null; readonly read?: RowEncryption } = {},
  ): Promise<DeltaChainRequest | null> => {
    const name = nameOf(owner, turnId)
    // What fails is told to who keeps it.
    await underWay.get(name)?.catch(() => undefined)
    const known = lately.get(name)
    if (known !== undefined && (round === null || round === known.round)) return known
    const key = { ...encodeOwner(owner), id: encodeColumn(turnId), round }
    const [found = []] = await engine.read([sql.requestChain(key)])
    const rows = found as readonly RequestChainRow[]
    const placed = decodeRequestRows(read, key, rows, await itemsBeside(key.tenant, rows))
    if (placed !== null && placed.round === placed.rounds - 1) lately.put(name, placed)
    return placed
  }
  /** With the media that its body shows. */
  const whole = async (
    { sent, round, rounds }: DeltaChainRequest,
    tenant: string,
  ): Promise<RoundRequest | null> => {
    const wanted = listMediaReferences(sent.body)
    if (wanted.length === 0) return { ...sent, round, rounds }
    const ids = JSON.stringify([...new Set(wanted)])
    const [pieces = []] = await engine.read([media.pieces({ tenant, ids })])
    const shown = decodeMediaPieces(tenant, pieces as readonly MediaPiece[], vault.sealer)
    const body = restoreTextMedia(sent.body, shown)
    if (body === null) vault.onUnreadable(1)
    return body === null ? null : { ...sent, body, round, rounds }
  }
  return {
    keepRequest({ tenant, user }, turnId, tell) {
      if (underWay.size >= MAX_UNDER_WAY) return Promise.reject(new Error(TOO_MANY))
      const owner = { tenant, user }
      const place = { tenant: encodeColumn(tenant), turnId: encodeColumn(turnId) }
      const keeping = async (): Promise<void> => {
        const request = await tell()
        if (request === null) return
        const { rounds, base } = request
        const before = base === null ? null : await load(owner, base, { read: quiet })
        const from = {
          before:
            before === null || base === null ? null : { ...before, turnId: encodeColumn(base) },
          beside: texts.take(place.tenant, place.turnId),
        }
        const told = encodeRequestRows(rounds, from, place, vault)
        const queries: SqlQuery[] = [...createMediaInserts(media, place, told.media, vault.sealer)]
        for (let at = 0; at < told.rows.length; at += MAX_REQUEST_ROWS) {
          const chunk = told.rows.slice(at, at + MAX_REQUEST_ROWS)
          queries.push(sql.insertRequests(chunk.length)(chunk))
        }
        await engine.write(queries, 'whenever')
        lately.put(name, told.last)
      }
      const name = nameOf(owner, turnId)
      const work = keeping().finally(() => underWay.delete(name))
      underWay.set(name, work)
      return work
    },
    async loadRequest(owner, turnId, round) {
      const placed = await load(owner, turnId, { round: round ?? null })
      return placed === null ? null : whole(placed, encodeColumn(owner.tenant))
    },
    async allKept() {
      await Promise.allSettled(underWay.values())
    },
  }
}

/** Each holds its request. Where a database does not keep up with its answers, some are not explained. */
const MAX_UNDER_WAY = 1_000
const TOO_MANY = 'Too many wait to be kept already.'

/** Some dozen long requests. */
const CACHED_CHARS = 8_000_000

function nameOf({ tenant, user }: Caller, turnId: string): string {
  return JSON.stringify([tenant, user, turnId])
}

function sizeOf({ sent: { about, body, items } }: DeltaChainRequest): number {
  return about.length + body.length + items.length
}
