/**
 * The verbs of searching over any engine, each of them one round trip: but a search of more than can be
 * recalled at once, or that shows media, takes another. Those of forgetting are `store/deletion/kysely-expiry-and-deletion.ts`.
 */
import { decodeColumn, encodeColumn, encodeKeyColumn } from '../database/escape-column-text.ts'
import type { Engine, SqlQuery } from '../database/engine-interface.ts'
import { createExpiryAndDeletion } from '../deletion/kysely-expiry-and-deletion.ts'
import { restoreRowMedia } from '../media/encode-and-restore-media-rows.ts'
import { createMediaStatements } from '../media/media-statements.ts'
import { createRecallCache } from './recall-cache.ts'
import { createRecallStatements, type RecallSearch } from './recall-statements.ts'
import {
  MAX_RECALL_KEYS,
  NO_TURNS_FOUND,
  BOUND_STEPS,
  type RecallKeys,
  type RecallStore,
} from './recall-store-interface.ts'
import { splitFoundRows, decodeRecalledTurns, type FoundRow } from './decode-recalled-turns.ts'
import {
  NO_ENCRYPTION,
  readEncryptedRows,
  type RowEncryption,
} from '../encryption/read-encrypted-rows.ts'
import { limitRecalledTurns, type SizedTurn } from './limit-recalled-turns.ts'

export function createRecallStore(
  engine: Engine,
  vault: RowEncryption = NO_ENCRYPTION,
): RecallStore {
  const sql = createRecallStatements(engine.language)
  const media = createMediaStatements(engine.language)
  const cache = createRecallCache(CACHED_CHARS)
  const rowsOf = async (query: SqlQuery): Promise<readonly FoundRow[]> =>
    ((await engine.read([query]))[0] ?? []) as readonly FoundRow[]
  /** Of a chat that is beyond the bounds they are read once it is known which of them are not. */
  const itemsOf = async (turnIds: readonly string[]) =>
    splitFoundRows(await rowsOf(sql.itemsOf({ turnIds: listOf(turnIds) }))).items
  return {
    async findTurns(keys) {
      if (keys.turnIds.length + keys.callIds.length + keys.fingerprints.length === 0)
        return NO_TURNS_FOUND
      const atHand = cache.atHand(
        keys.turnIds.map(encodeColumn),
        keys.fingerprints.map(encodeColumn),
      )
      const search = searchOf(keys, listOf([...atHand.keys()]))
      const found = splitFoundRows(await rowsOf(sql.recalled(search)))
      const turns = limitRecalledTurns(found.turns)
      const items =
        turns === found.turns
          ? found.items
          : await itemsOf(turns.flatMap(({ id }) => (atHand.has(id) ? [] : [id])))
      const whole = await restoreRowMedia(engine, media, search.tenant, items, vault)
      const remembered = readEncryptedRows(vault, search.tenant, (reading) =>
        decodeRecalledTurns(turns, whole, { cache, atHand }, reading),
      )
      return { turns: remembered, beyond: beyondBounds(keys, found.turns, turns) }
    },
    async touchTurns(tenant, turnIds, nowMs) {
      if (turnIds.length === 0) return
      const touch = {
        tenant: encodeColumn(tenant),
        turnIds: listOf(turnIds.map(encodeColumn)),
        nowMs,
      }
      await engine.write([sql.touchTurns(touch)], 'kill')
    },
    ...createExpiryAndDeletion(engine),
  }
}

/** Nearly always none. */
function beyondBounds(
  { turnIds }: RecallKeys,
  found: readonly SizedTurn[],
  within: readonly SizedTurn[],
): ReadonlySet<string> {
  const notLookedFor = turnIds.slice(0, turnIds.length - newest(turnIds).length)
  if (within === found) return new Set(notLookedFor)
  const left = new Set(within.map(({ id }) => id))
  const cut = found.flatMap(({ id }) => (left.has(id) ? [] : decodeColumn(id)))
  return new Set([...notLookedFor, ...cut])
}

/** Some hundred long chats; an isolate of Workers has 128 MB for everything. */
const CACHED_CHARS = 16_000_000

function searchOf(
  { tenant, user, turnIds, callIds, fingerprints }: RecallKeys,
  atHand: string,
): RecallSearch {
  return {
    atHand,
    tenant: encodeColumn(tenant),
    user: user === null ? '' : encodeColumn(user),
    turnIds: listOf(newest(turnIds).map(encodeColumn)),
    callIds: listOf(newest(callIds).map(encodeKeyColumn)),
    fingerprints: listOf(newest(fingerprints).map(encodeColumn)),
  }
}

/** What is beyond the bound goes in steps, as in the query. */
function newest(keys: readonly string[]): readonly string[] {
  const step = MAX_RECALL_KEYS / BOUND_STEPS
  return keys.length <= MAX_RECALL_KEYS
    ? keys
    : keys.slice(Math.ceil(keys.length / step) * step - MAX_RECALL_KEYS)
}

/** What is no key finds nothing. */
function listOf(columns: readonly (string | null)[]): string {
  return JSON.stringify(columns.filter((column) => column !== null))
}
