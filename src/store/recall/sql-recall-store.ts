/**
 * SQL implementation of `RecallStore` for any engine. A search takes one round trip, or two if it
 * exceeds a limit or its items contain media.
 */
import {
  decodeColumnText,
  encodeColumnText,
  encodeKeyColumn,
} from '../database/encode-column-text.ts'
import type { Engine, SqlQuery } from '../database/engine-interface.ts'
import { DEFAULT_CACHE_SIZES } from '../cache-sizes.ts'
import { decryptRowsWithMedia } from '../media/encode-and-restore-media-rows.ts'
import { createMediaStatements } from '../media/media-statements.ts'
import { createRecallCache } from './recall-cache.ts'
import { createRecallStatements, type RecallSearch } from './recall-statements.ts'
import {
  MAX_RECALL_KEYS,
  MAX_RECALLED_BYTES,
  NO_TURNS_FOUND,
  STEPS_PER_LIMIT,
  type RecallKeys,
  type RecallStore,
} from './recall-store-interface.ts'
import {
  splitSearchRows,
  decodeRecalledTurns,
  type FoundTurnRow,
  type RecallSearchRow,
} from './decode-recalled-turns.ts'
import { NO_ENCRYPTION, decryptRows, type RowEncryption } from '../encryption/decrypt-rows.ts'
import { limitRecalledTurns } from './limit-recalled-turns.ts'
import type { ItemBodyRow } from '../turns/decode-turn-rows.ts'
import {
  claimItemMemory,
  MAX_BYTES_AT_ONCE,
  readInSlices,
  sumBytes,
} from '../turns/read-items-in-slices.ts'

interface RecallLimits {
  readonly maxCachedBytes?: number
  /** Maximum size of the turns that a search returns. */
  readonly maxRecalledBytes?: number | undefined
}

export function createRecallStore(
  engine: Engine,
  encryption: RowEncryption = NO_ENCRYPTION,
  {
    maxCachedBytes = DEFAULT_CACHE_SIZES.recalledItems,
    maxRecalledBytes = MAX_RECALLED_BYTES,
  }: RecallLimits = {},
): RecallStore {
  const sql = createRecallStatements(engine.language)
  const media = createMediaStatements(engine.language)
  const cache = createRecallCache(maxCachedBytes)
  const readRows = async (query: SqlQuery): Promise<readonly RecallSearchRow[]> =>
    ((await engine.read([query]))[0] ?? []) as readonly RecallSearchRow[]
  const readItems = async (turns: readonly FoundTurnRow[]) =>
    splitSearchRows(await readRows(sql.selectItems({ turnIds: encodeIds(turns) }))).items
  const countItems = async (turns: readonly FoundTurnRow[]): Promise<number> => {
    const [[row] = []] = await engine.read([sql.countItems({ turnIds: encodeIds(turns) })])
    return (row as { readonly items: number }).items
  }
  return {
    async findTurns(keys, claimMemory = () => undefined) {
      if (keys.turnIds.length + keys.callIds.length + keys.fingerprints.length === 0)
        return NO_TURNS_FOUND
      const cachedItems = cache.find(
        keys.turnIds.map(encodeColumnText),
        keys.fingerprints.map(encodeColumnText),
      )
      const search = encodeSearch(keys, encodeKeyList([...cachedItems.keys()]))
      const found = splitSearchRows(await readRows(sql.searchTurns(search)))
      const turns = limitRecalledTurns(found.turns, maxRecalledBytes)
      const decode = async (slice: readonly FoundTurnRow[], items: readonly ItemBodyRow[]) => {
        const { rows, failures } = await decryptRowsWithMedia(
          engine,
          media,
          search,
          items,
          encryption,
          { claimMemory },
        )
        return decryptRows(
          encryption,
          search,
          (reader) => decodeRecalledTurns(slice, rows, { cache, cachedItems }, reader),
          { failures },
        )
      }
      const readTurns = turns.filter(({ id }) => !cachedItems.has(id))
      // The search returns no items if they exceed a limit, or are too large to be read at once.
      const hasItems = turns === found.turns && sumBytes(readTurns) <= MAX_BYTES_AT_ONCE
      const count = hasItems ? found.items.length : await countItems(readTurns)
      claimItemMemory(sumBytes(readTurns), count, claimMemory)
      const decodedTurns = hasItems
        ? await decode(turns, found.items)
        : [
            ...(await decode(
              turns.filter(({ id }) => cachedItems.has(id)),
              [],
            )),
            ...(await readInSlices(readTurns, async (slice) =>
              decode(slice, await readItems(slice)),
            )),
          ]
      return { turns: decodedTurns, excludedTurnIds: findExcludedIds(keys, found.turns, turns) }
    },
    async touchTurns(tenant, turnIds, nowMs) {
      if (turnIds.length === 0) return
      const keys = encodeKeyList(turnIds.map(encodeColumnText))
      const touch = { tenant: encodeColumnText(tenant), turnIds: keys, nowMs }
      await engine.write([sql.touchTurns(touch)], 'kill')
    },
  }
}

/** Returns the ids of requested or found turns that the limits exclude. Usually there are none. */
function findExcludedIds(
  { turnIds }: RecallKeys,
  found: readonly FoundTurnRow[],
  includedTurns: readonly FoundTurnRow[],
): ReadonlySet<string> {
  const skippedKeys = turnIds.slice(0, turnIds.length - limitKeys(turnIds).length)
  if (includedTurns === found) return new Set(skippedKeys)
  const includedIds = new Set(includedTurns.map(({ id }) => id))
  const excluded = found.flatMap(({ id }) => (includedIds.has(id) ? [] : decodeColumnText(id)))
  return new Set([...skippedKeys, ...excluded])
}

function encodeSearch(
  { tenant, user, turnIds, callIds, fingerprints }: RecallKeys,
  cachedTurnIds: string,
): RecallSearch {
  return {
    cachedTurnIds,
    tenant: encodeColumnText(tenant),
    user: user === null ? '' : encodeColumnText(user),
    turnIds: encodeKeyList(limitKeys(turnIds).map(encodeColumnText)),
    callIds: encodeKeyList(limitKeys(callIds).map(encodeKeyColumn)),
    fingerprints: encodeKeyList(limitKeys(fingerprints).map(encodeColumnText)),
  }
}

/**
 * Returns the last keys, at most `MAX_RECALL_KEYS`. The number of excluded keys is a multiple of a
 * quarter of that limit, e.g. 500.
 */
function limitKeys(keys: readonly string[]): readonly string[] {
  const step = MAX_RECALL_KEYS / STEPS_PER_LIMIT
  return keys.length <= MAX_RECALL_KEYS
    ? keys
    : keys.slice(Math.ceil(keys.length / step) * step - MAX_RECALL_KEYS)
}

function encodeIds(turns: readonly FoundTurnRow[]): string {
  return JSON.stringify(turns.map(({ id }) => id))
}

/** Encodes a list of keys. Invalid keys (`null`) find nothing and are left out. */
function encodeKeyList(columns: readonly (string | null)[]): string {
  return JSON.stringify(columns.filter((column) => column !== null))
}
