/**
 * The verbs of searching over any engine, each of them one round trip: but a search of more than can be
 * recalled at once, or that shows media, takes another. Those of forgetting are `store/deletion/kysely-expiry-and-deletion.ts`.
 */
import { fromColumn, toColumn, toKeyColumn } from '../database/escape-column-text.ts'
import type { Engine, Query } from '../database/engine-interface.ts'
import { createForgetting } from '../deletion/kysely-expiry-and-deletion.ts'
import { withMedia } from '../media/encode-and-restore-media-rows.ts'
import { createMediaStatements } from '../media/media-statements.ts'
import { recallCache } from './recall-cache.ts'
import { createRecallStatements, type RecallSearch } from './recall-statements.ts'
import {
  MAX_KEYS,
  NOTHING_FOUND,
  STEPS,
  type RecallKeys,
  type RecallStore,
} from './recall-store-interface.ts'
import { foundRows, rememberedTurns, type FoundRow } from './decode-recalled-turns.ts'
import { OPEN_VAULT, reading, type Vault } from '../encryption/read-encrypted-rows.ts'
import { withinBounds, type Sized } from './limit-recalled-turns.ts'

export function createRecallStore(engine: Engine, vault: Vault = OPEN_VAULT): RecallStore {
  const sql = createRecallStatements(engine.language)
  const media = createMediaStatements(engine.language)
  const cache = recallCache(CACHED_CHARS)
  const rowsOf = async (query: Query): Promise<readonly FoundRow[]> =>
    ((await engine.read([query]))[0] ?? []) as readonly FoundRow[]
  /** Of a chat that is beyond the bounds they are read once it is known which of them are not. */
  const itemsOf = async (turnIds: readonly string[]) =>
    foundRows(await rowsOf(sql.itemsOf({ turnIds: listOf(turnIds) }))).items
  return {
    async findTurns(keys) {
      if (keys.turnIds.length + keys.callIds.length + keys.fingerprints.length === 0)
        return NOTHING_FOUND
      const atHand = cache.atHand(keys.turnIds.map(toColumn), keys.fingerprints.map(toColumn))
      const search = searchOf(keys, listOf([...atHand.keys()]))
      const found = foundRows(await rowsOf(sql.recalled(search)))
      const turns = withinBounds(found.turns)
      const items =
        turns === found.turns
          ? found.items
          : await itemsOf(turns.flatMap(({ id }) => (atHand.has(id) ? [] : [id])))
      const whole = await withMedia(engine, media, search.tenant, items, vault)
      const remembered = reading(vault, search.tenant, (reading) =>
        rememberedTurns(turns, whole, { cache, atHand }, reading),
      )
      return { turns: remembered, beyond: beyondBounds(keys, found.turns, turns) }
    },
    async touchTurns(tenant, turnIds, nowMs) {
      if (turnIds.length === 0) return
      const touch = { tenant: toColumn(tenant), turnIds: listOf(turnIds.map(toColumn)), nowMs }
      await engine.write([sql.touchTurns(touch)], 'kill')
    },
    ...createForgetting(engine),
  }
}

/** Nearly always none. */
function beyondBounds(
  { turnIds }: RecallKeys,
  found: readonly Sized[],
  within: readonly Sized[],
): ReadonlySet<string> {
  const notLookedFor = turnIds.slice(0, turnIds.length - newest(turnIds).length)
  if (within === found) return new Set(notLookedFor)
  const left = new Set(within.map(({ id }) => id))
  const cut = found.flatMap(({ id }) => (left.has(id) ? [] : fromColumn(id)))
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
    tenant: toColumn(tenant),
    user: user === null ? '' : toColumn(user),
    turnIds: listOf(newest(turnIds).map(toColumn)),
    callIds: listOf(newest(callIds).map(toKeyColumn)),
    fingerprints: listOf(newest(fingerprints).map(toColumn)),
  }
}

/** What is beyond the bound goes in steps, as in the query. */
function newest(keys: readonly string[]): readonly string[] {
  const step = MAX_KEYS / STEPS
  return keys.length <= MAX_KEYS
    ? keys
    : keys.slice(Math.ceil(keys.length / step) * step - MAX_KEYS)
}

/** What is no key finds nothing. */
function listOf(columns: readonly (string | null)[]): string {
  return JSON.stringify(columns.filter((column) => column !== null))
}
