/**
 * Requests over any engine. What was kept or read lately is at hand, because the next turn of the
 * conversation is told from it; without that, each would begin with a read.
 */
import { toColumn } from '../database/escape-column-text.ts'
import type { Engine, Query } from '../database/engine-interface.ts'
import { referencesIn } from '../media/extract-item-media.ts'
import { insertMedia, mediaOf, type ReadPiece } from '../media/encode-and-restore-media-rows.ts'
import { createMediaStatements } from '../media/media-statements.ts'
import { ownerKey } from '../owner.ts'
import type { Caller } from '../../core/client/caller.ts'
import { latelySeen } from '../lru-cache.ts'
import {
  createRequestStatements,
  MAX_REQUEST_ROWS,
  type BesideRow,
  type ChainRow,
} from './upstream-request-statements.ts'
import { requestRows, type PlacedRequest } from './encode-request-rows.ts'
import type { RequestStore, RoundRequest } from './upstream-request-store-interface.ts'
import { restoredRequest, toldByTheirItems } from './decode-request-rows.ts'
import { putBackInto } from '../media/extract-text-media.ts'
import { OPEN_VAULT, type Vault } from '../encryption/read-encrypted-rows.ts'
import { NO_TEXTS, type WrittenTexts } from './item-text-cache.ts'

export function createRequestStore(
  engine: Engine,
  vault: Vault = OPEN_VAULT,
  texts: WrittenTexts = NO_TEXTS,
): RequestStore {
  const sql = createRequestStatements(engine.language)
  const media = createMediaStatements(engine.language)
  const lately = latelySeen(CACHED_CHARS, sizeOf)
  const underWay = new Map<string, Promise<void>>()
  /** Told from what cannot be read any more is nothing: the next is whole again. */
  const quiet: Vault = { ...vault, onUnreadable: () => {} }

  const itemsBeside = async (tenant: string, rows: readonly ChainRow[]) => {
    const turnIds = toldByTheirItems(rows)
    if (turnIds.length === 0) return []
    const [beside = []] = await engine.read([
      sql.itemsBeside({ tenant, turnIds: JSON.stringify(turnIds) }),
    ])
    return beside as readonly BesideRow[]
  }
  /** The last one, unless a round is named. Only the last is at hand: the next turn is told from it. */
  const load = async (
    owner: Caller,
    turnId: string,
    { round = null, read = vault }: { readonly round?: number | null; readonly read?: Vault } = {},
  ): Promise<PlacedRequest | null> => {
    const name = nameOf(owner, turnId)
    // What fails is told to who keeps it.
    await underWay.get(name)?.catch(() => undefined)
    const known = lately.get(name)
    if (known !== undefined && (round === null || round === known.round)) return known
    const key = { ...ownerKey(owner), id: toColumn(turnId), round }
    const [found = []] = await engine.read([sql.requestChain(key)])
    const rows = found as readonly ChainRow[]
    const placed = restoredRequest(read, key, rows, await itemsBeside(key.tenant, rows))
    if (placed !== null && placed.round === placed.rounds - 1) lately.put(name, placed)
    return placed
  }
  /** With the media that its body shows. */
  const whole = async (
    { sent, round, rounds }: PlacedRequest,
    tenant: string,
  ): Promise<RoundRequest | null> => {
    const wanted = referencesIn(sent.body)
    if (wanted.length === 0) return { ...sent, round, rounds }
    const ids = JSON.stringify([...new Set(wanted)])
    const [pieces = []] = await engine.read([media.pieces({ tenant, ids })])
    const shown = mediaOf(tenant, pieces as readonly ReadPiece[], vault.sealer)
    const body = putBackInto(sent.body, shown)
    if (body === null) vault.onUnreadable(1)
    return body === null ? null : { ...sent, body, round, rounds }
  }
  return {
    keepRequest({ tenant, user }, turnId, tell) {
      if (underWay.size >= MAX_UNDER_WAY) return Promise.reject(new Error(TOO_MANY))
      const owner = { tenant, user }
      const place = { tenant: toColumn(tenant), turnId: toColumn(turnId) }
      const keeping = async (): Promise<void> => {
        const request = await tell()
        if (request === null) return
        const { rounds, base } = request
        const before = base === null ? null : await load(owner, base, { read: quiet })
        const from = {
          before: before === null || base === null ? null : { ...before, turnId: toColumn(base) },
          beside: texts.take(place.tenant, place.turnId),
        }
        const told = requestRows(rounds, from, place, vault)
        const queries: Query[] = [...insertMedia(media, place, told.media, vault.sealer)]
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
      return placed === null ? null : whole(placed, toColumn(owner.tenant))
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

function sizeOf({ sent: { about, body, items } }: PlacedRequest): number {
  return about.length + body.length + items.length
}
