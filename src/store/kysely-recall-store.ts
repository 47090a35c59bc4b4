/**
 * The verbs of searching and forgetting over any engine, each of them one round trip: but a search of
 * more than can be recalled at once, or that shows media, takes another.
 */
import { fromColumn, toColumn, toKeyColumn } from './column.ts'
import type { Engine, Query, Rows } from './engine.ts'
import { createFactStatements } from './fact-statements.ts'
import { createForgetStatements, type Forgetting } from './forget-statements.ts'
import { createForgottenStatements, writeBehind } from './forgotten-statements.ts'
import { createLayerStatements } from './layer-statements.ts'
import { withMedia } from './media-rows.ts'
import { createMediaStatements } from './media-statements.ts'
import { recallCache } from './recall-cache.ts'
import { createRecallStatements, type RecallSearch } from './recall-statements.ts'
import {
  MAX_KEYS,
  NOTHING_FOUND,
  STEPS,
  type ExpiryPlace,
  type ForgottenThread,
  type RecallKeys,
  type RecallStore,
} from './recall-store.ts'
import { createReleaseStatements, releasing, sweeping } from './release-statements.ts'
import { foundRows, rememberedTurns, type FoundRow } from './remembered-turns.ts'
import { createSummaryStatements } from './summary-statements.ts'
import type { TurnRow } from './tables.ts'
import { OPEN_VAULT, reading, type Vault } from './vault.ts'
import { withinBounds, type Sized } from './within-bounds.ts'

export function createRecallStore(engine: Engine, vault: Vault = OPEN_VAULT): RecallStore {
  const sql = createRecallStatements(engine.language)
  const forget = createForgetStatements(engine.language)
  const forgotten = createForgottenStatements(engine.language)
  const summaries = createSummaryStatements(engine.language)
  const layers = createLayerStatements(engine.language)
  const media = createMediaStatements(engine.language)
  const facts = createFactStatements(engine.language)
  const release = createReleaseStatements(engine.language)
  const cache = recallCache(CACHED_CHARS)
  const rowsOf = async (query: Query): Promise<readonly FoundRow[]> =>
    ((await engine.read([query]))[0] ?? []) as readonly FoundRow[]
  /** Of a chat that is beyond the bounds they are read once it is known which of them are not. */
  const itemsOf = async (turnIds: readonly string[]) =>
    foundRows(await rowsOf(sql.itemsOf({ turnIds: listOf(turnIds) }))).items
  /**
   * Whoever opens a turn waits for nobody. Where both can happen at once, it is known to them what is
   * forgotten before any of it goes, so that nothing comes behind it.
   */
  const forgetAll = async (
    tenant: string,
    note: Query,
    queries: readonly Query[],
  ): Promise<number> => {
    const waiting = forgotten.alone(tenant)
    if (waiting.length > 0) await engine.write([...waiting, note])
    const results = await writeBehind(engine, waiting, [note, ...queries, ...sweeping(release)])
    // The last of the queries removes turns.
    return (results[queries.length] ?? []).length
  }
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
    async expireTurns({ of, unusedSinceMs, nowMs, after, limit }) {
      const page = {
        unusedSinceMs,
        nowMs,
        afterMs: after?.usedAtMs ?? unusedSinceMs,
        afterId: toColumn(after?.turnId ?? ''),
        limit,
      }
      const [unused = [], , , removed = []] = await engine.write(
        [
          forget.unusedTurns(of)(page),
          forget.forgetEventsOfUnused(of)(page),
          forget.releaseShownByUnused(of)(page),
          forget.removeUnused(of)(page),
          summaries.removeUnused(of)(page),
          layers.removeUnused(of)(page),
          // Once for all pages: those that this one leaves alone are found by the next.
          ...(after === null && of === 'all'
            ? [
                release.unused.loaded({ unusedSinceMs }),
                release.unused.removeAddresses({ unusedSinceMs }),
              ]
            : []),
          ...sweeping(release),
          ...(after === null ? [facts.removeExpired({ nowMs, limit })] : []),
          ...(of === 'all' ? [facts.removeUnused({ unusedSinceMs, limit })] : []),
          ...(after === null ? [forgotten.removeNotes({ nowMs })] : []),
        ],
        'kill',
      )
      return { removed: removed.length, next: nextPage(unused, limit) }
    },
    async forgetThread(thread) {
      const key = threadKey(thread)
      return forgetAll(key.tenant, forgotten.noteThread({ ...key, nowMs: thread.nowMs }), [
        summaries.removeOfThread(key),
        facts.removeOfThread(key),
        layers.removeOfThread(key),
        ...releasing(release.ofThread, key),
        ...forgetting(forget.ofThread, key),
      ])
    },
    async forgetUser(tenant, user, nowMs) {
      const key = { tenant: toColumn(tenant), user: toColumn(user) }
      return forgetAll(key.tenant, forgotten.noteUser({ ...key, nowMs }), [
        summaries.removeOfUser(key),
        facts.removeOfUser(key),
        layers.removeOfUser(key),
        ...releasing(release.ofUser, key),
        forget.removeConversations(key),
        ...forgetting(forget.ofUser, key),
      ])
    },
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

function nextPage(unused: Rows, limit: number): ExpiryPlace | null {
  const last = unused.at(-1) as Pick<TurnRow, 'used_at' | 'id'> | undefined
  if (last === undefined || unused.length < limit) return null
  return { usedAtMs: last.used_at, turnId: fromColumn(last.id) }
}

function threadKey({ tenant, user, turnId }: ForgottenThread) {
  return {
    tenant: toColumn(tenant),
    turnId: toColumn(turnId),
    user: user === null ? null : toColumn(user),
  }
}

function forgetting<Key>(statements: Forgetting<Key>, key: Key): readonly Query[] {
  const { leaveConversations, forgetEvents, removeTurns } = statements
  return [leaveConversations(key), forgetEvents(key), removeTurns(key)]
}
