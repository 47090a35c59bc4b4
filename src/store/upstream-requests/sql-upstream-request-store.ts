/**
 * SQL implementation of `UpstreamRequestStore` for any engine. Recent requests are cached, because
 * the request of the next turn is stored as the difference to the last one. Without the cache, each
 * write would begin with a read.
 */
import { MAX_STEP_CHARS } from '../../core/async/max-step-chars.ts'
import { yieldToEventLoop } from '../../core/async/yield-to-event-loop.ts'
import { encodeColumnText } from '../database/encode-column-text.ts'
import type { Engine } from '../database/engine-interface.ts'
import { listMediaReferences } from '../media/extract-item-media.ts'
import {
  buildMediaInserts,
  decodeMediaPieces,
  type MediaPiece,
} from '../media/encode-and-restore-media-rows.ts'
import { createMediaStatements } from '../media/media-statements.ts'
import { encodeOwnedRowKey, encodeOwner, type OwnerKey } from '../owner.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { ClaimMemory } from '../../core/ports/claim-memory.ts'
import { ignoreDeletedTurn } from '../turns/ignore-deleted-turn.ts'
import { decryptLongTexts, type DecryptedRows } from '../pieces/decrypt-long-texts.ts'
import { claimItemMemory } from '../turns/read-items-in-slices.ts'
import { createLruCache } from '../../core/caching/lru-cache.ts'
import { DEFAULT_CACHE_SIZES } from '../cache-sizes.ts'
import {
  createUpstreamRequestStatements,
  MAX_REQUEST_ROWS,
  type InputItemRow,
  type RequestChainRow,
} from './upstream-request-statements.ts'
import { encodeRequestRows, type DeltaChainRequest } from './encode-request-rows.ts'
import type { UpstreamRequestStore, ToolRoundRequest } from './upstream-request-store-interface.ts'
import { decodeRequestRows, findTurnsWithCopies } from './decode-request-rows.ts'
import { restoreTextMedia } from '../media/extract-text-media.ts'
import {
  NO_ENCRYPTION,
  decryptRows,
  type RowEncryption,
  type UndecryptableRule,
} from '../encryption/decrypt-rows.ts'
import { NO_ITEM_TEXTS, type ItemTextCache } from './item-text-cache.ts'

interface CacheOptions {
  readonly texts?: ItemTextCache
  readonly maxCachedBytes?: number
}

export function createUpstreamRequestStore(
  engine: Engine,
  encryption: RowEncryption = NO_ENCRYPTION,
  { texts = NO_ITEM_TEXTS, maxCachedBytes = DEFAULT_CACHE_SIZES.requests }: CacheOptions = {},
): UpstreamRequestStore {
  const sql = createUpstreamRequestStatements(engine.language)
  const media = createMediaStatements(engine.language)
  const cache = createLruCache<DeltaChainRequest>(maxCachedBytes)
  const pending = new Map<string, Promise<void>>()
  /**
   * Encryption that does not report unreadable rows. Used to read the earlier request: if that
   * cannot be read, nothing is lost, because the new request is then stored completely.
   */
  const silentEncryption: RowEncryption = { ...encryption, onUnreadable: () => {} }

  const readItemTexts = async (
    owner: OwnerKey,
    rows: readonly RequestChainRow[],
    claimMemory: ClaimMemory,
  ): Promise<DecryptedRows<InputItemRow>> => {
    const turnIds = findTurnsWithCopies(rows)
    if (turnIds.length === 0) return { rows: [], failures: [] }
    const { tenant } = owner
    const [found = []] = await engine.read([
      sql.selectInputItems({ tenant, turnIds: JSON.stringify(turnIds) }),
    ])
    const items = found as readonly InputItemRow[]
    claimRowMemory(items, claimMemory)
    return decryptLongTexts(engine, owner, items, encryption.cipher, {
      claimMemory,
      claimsPieces: true,
    })
  }
  /**
   * Loads the request of a tool round, by default of the last. Only the last request of each turn
   * is cached, because only that one is compared with the request of the next turn.
   */
  const load = async (
    owner: Caller,
    turnId: string,
    {
      round = null,
      read = encryption,
      rule = 'leave-out',
      claimMemory = () => undefined,
    }: {
      readonly round?: number | null
      readonly read?: RowEncryption
      readonly rule?: UndecryptableRule | undefined
      readonly claimMemory?: ClaimMemory | undefined
    } = {},
  ): Promise<DeltaChainRequest | null> => {
    const name = formatKey(owner, turnId)
    // Ignores an error of the pending write: the caller that stores the request handles it.
    await pending.get(name)?.catch(() => undefined)
    const known = cache.get(name)
    if (known !== undefined && (round === null || round === known.round)) return known
    const key = { ...encodeOwnedRowKey(owner, turnId), round }
    const [found = []] = await engine.read([sql.selectRequestChain(key)])
    const rows = found as readonly RequestChainRow[]
    claimRowMemory(rows, claimMemory)
    const itemTexts = await readItemTexts(key, rows, claimMemory)
    if (countRowChars(rows) > MAX_STEP_CHARS) await yieldToEventLoop()
    const request = decodeRequestRows(read, key, rows, itemTexts, rule)
    if (request !== null && request.round === request.roundCount - 1) cache.put(name, request)
    return request
  }
  /**
   * Loads the last request of an earlier turn, so that the first new request can be stored as the
   * difference to it.
   */
  const loadBase = async (owner: Caller, turnId: string | null) => {
    const base = turnId === null ? null : await load(owner, turnId, { read: silentEncryption })
    return base === null || turnId === null ? null : { ...base, turnId: encodeColumnText(turnId) }
  }
  /** Replaces the references in the body by the media that they refer to. */
  const addMedia = async (
    { sent, round, roundCount }: DeltaChainRequest,
    owner: OwnerKey,
    rule?: UndecryptableRule,
    claimMemory: ClaimMemory = () => undefined,
  ): Promise<ToolRoundRequest | null> => {
    const wanted = listMediaReferences(sent.body)
    if (wanted.length === 0) return { ...sent, round, roundCount }
    const ids = JSON.stringify([...new Set(wanted)])
    const { tenant } = owner
    const [pieces = []] = await engine.read([media.selectPieces({ tenant, ids })])
    claimRowMemory(pieces as readonly MediaPiece[], claimMemory)
    const { texts: mediaTexts, failures } = decodeMediaPieces(
      tenant,
      pieces as readonly MediaPiece[],
      encryption.cipher,
    )
    const body = decryptRows(encryption, owner, () => restoreTextMedia(sent.body, mediaTexts), {
      failures,
      ...(rule === undefined ? {} : { rule }),
    })
    return body === null ? null : { ...sent, body, round, roundCount }
  }
  return {
    saveRequests({ tenant, user }, turnId, collect) {
      if (pending.size >= MAX_PENDING_WRITES) return Promise.reject(new Error(TOO_MANY))
      const owner = { tenant, user }
      const turn = { ...encodeOwner(owner), turnId: encodeColumnText(turnId) }
      const write = async (): Promise<void> => {
        const request = await collect()
        if (request === null) return
        const isLarge = request.requests.some(({ body }) => body.length > MAX_STEP_CHARS)
        if (isLarge) await yieldToEventLoop()
        const base = await loadBase(owner, request.baseTurnId)
        if (isLarge) await yieldToEventLoop()
        const itemTexts = texts.take(turn.tenant, turn.turnId)
        const encoded = encodeRequestRows(request.requests, { base, itemTexts }, turn, encryption)
        const queries = [...buildMediaInserts(media, turn, encoded.media, encryption.cipher)]
        for (let from = 0; from < encoded.rows.length; from += MAX_REQUEST_ROWS) {
          const chunk = encoded.rows.slice(from, from + MAX_REQUEST_ROWS)
          queries.push(sql.insertRequests(chunk.length)(chunk))
        }
        let isDeleted = false
        await engine.write(queries, 'whenever').catch((error: unknown) => {
          isDeleted = ignoreDeletedTurn(error).length === 0
        })
        if (!isDeleted) cache.put(name, encoded.last)
      }
      const name = formatKey(owner, turnId)
      const writing = write().finally(() => pending.delete(name))
      pending.set(name, writing)
      return writing
    },
    async loadRequest(owner, turnId, round, rule, claimMemory) {
      const request = await load(owner, turnId, { round: round ?? null, rule, claimMemory })
      return request === null ? null : addMedia(request, encodeOwner(owner), rule, claimMemory)
    },
    async waitForPendingWrites() {
      await Promise.allSettled(pending.values())
    },
  }
}

/**
 * Limits the memory that requests take while they wait to be written. If the database is too slow,
 * some requests are not stored, and `explain` cannot show them.
 */
const MAX_PENDING_WRITES = 1_000
const TOO_MANY = 'Too many requests wait to be stored already.'

function claimRowMemory(
  rows: readonly { readonly body: string }[],
  claimMemory: ClaimMemory,
): void {
  claimItemMemory(countRowChars(rows), 0, claimMemory)
}

function countRowChars(rows: readonly { readonly body: string }[]): number {
  return rows.reduce((sum, { body }) => sum + body.length, 0)
}

function formatKey({ tenant, user }: Caller, turnId: string): string {
  return JSON.stringify([tenant, user, turnId])
}
