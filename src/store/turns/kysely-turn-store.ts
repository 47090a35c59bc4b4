/**
 * The store's verbs over any engine: rows out of turns, finished statements out of rows, and at
 * most one round trip for each call. Errors of the database pass through as they are.
 */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { encodeColumn } from '../database/escape-column-text.ts'
import {
  createConversationStatements,
  type ConversationStatements,
} from '../conversations/conversation-statements.ts'
import type { Engine, SqlQuery, SqlRows } from '../database/engine-interface.ts'
import { writeAfterLock } from '../deletion/deletion-locks.ts'
import { encodeOwner } from '../owner.ts'
import { createMediaInserts, restoreRowMedia } from '../media/encode-and-restore-media-rows.ts'
import { decodeTurnChain, type ItemBodyRow } from './decode-turn-rows.ts'
import {
  encodeTurnEnding,
  encodeInputItems,
  encodeOutputItems,
  encodeTurn,
  type EncodedItem,
} from './encode-turn-rows.ts'
import type { StorageCipher } from '../encryption/cipher.ts'
import {
  createTurnStatements,
  MAX_CHAIN_ITEMS,
  MAX_CHAIN_TURNS,
  MAX_ITEM_ROWS,
  type TurnStatements,
} from './turn-statements.ts'
import type { NewTurn, TurnStore, TurnEnding } from './turn-store-interface.ts'
import type { TurnRow } from '../database/table-row-types.ts'
import {
  NO_ENCRYPTION,
  readEncryptedRows,
  type RowEncryption,
} from '../encryption/read-encrypted-rows.ts'
import { NO_ITEM_TEXTS, type ItemTextCache } from '../upstream-requests/item-text-cache.ts'

export function createTurnStore(
  engine: Engine,
  vault: RowEncryption = NO_ENCRYPTION,
  texts: ItemTextCache = NO_ITEM_TEXTS,
): TurnStore {
  const { sealer } = vault
  const sql = createTurnStatements(engine.language)
  const conversations = createConversationStatements(engine.language)
  return {
    async openTurn(turn) {
      // Its first token waits for this; what comes at its end waits for the disk.
      await writeNewTurn({ engine, sql, sealer, texts }, turn)
    },
    async journalItems(turnId, tenant, items) {
      if (items.length === 0) return
      const rows = encodeOutputItems(turnId, tenant, items, sealer)
      await engine.write(createItemInserts(sql, rows, sealer), 'kill').catch(unlessGone)
    },
    async closeTurn(ending) {
      const { turnId, tenant } = ending
      const items = createItemInserts(
        sql,
        encodeOutputItems(turnId, tenant, ending.items, sealer),
        sealer,
      )
      const end = sql.endTurn(encodeTurnEnding(ending, sealer))
      const queries = [...items, end, ...createHeadMoves(conversations, ending)]
      const written = await engine.write(queries).catch(unlessGone)
      return (written[items.length] ?? []).length > 0
    },
    async loadChain(owner, turnId) {
      const key = { ...encodeOwner(owner), id: encodeColumn(turnId) }
      // Turns before items: a turn that has ended when it is read has all its items by then.
      const [turns = [], items = []] = await engine.read([sql.chainTurns(key), sql.chainItems(key)])
      if (turns.length === 0) return null
      if (turns.length > MAX_CHAIN_TURNS || items.length > MAX_CHAIN_ITEMS) throw tooLong()
      const placed = items as readonly ItemBodyRow[]
      const whole = await restoreRowMedia(engine, sql.media, key.tenant, placed, vault)
      return readEncryptedRows(vault, key.tenant, (rows) =>
        decodeTurnChain(key.id, turns as readonly TurnRow[], whole, rows),
      )
    },
    async ping() {
      await engine.read([sql.ping(null)])
    },
    close: engine.close,
  }
}

/** What it takes to write a turn. */
interface TurnWriting {
  readonly engine: Engine
  readonly sql: TurnStatements
  readonly sealer: StorageCipher
  readonly texts: ItemTextCache
}

/**
 * A turn with its input, and what is to be written with it, or nothing: a turn that belongs to what was
 * forgotten since it was begun is refused, and only of one that was not written is it asked why.
 */
export async function writeNewTurn(
  { engine, sql, sealer, texts }: TurnWriting,
  turn: NewTurn,
  log: readonly SqlQuery[] = [],
): Promise<void> {
  const row = encodeTurn(turn, sealer)
  const rows = encodeInputItems(turn, sealer)
  const items = createItemInserts(sql, rows, sealer)
  texts.remember(
    row.tenant,
    row.id,
    rows.map(({ text }) => text),
  )
  const queries = [sql.insertTurn(row), ...items, ...log]
  const [inserted = []] = await writeAfterLock(
    engine,
    'besideNotes',
    row.tenant,
    queries,
    'kill',
  ).catch(unlessGone)
  if (inserted.length > 0) return
  const [there = []] = await engine.read([sql.hasTurn(row)])
  if (there.length === 0) throw forgottenMeanwhile()
}

export function createItemInserts(
  sql: Pick<TurnStatements, 'insertItems' | 'media'>,
  rows: readonly EncodedItem[],
  sealer: StorageCipher,
): readonly SqlQuery[] {
  const queries = rows.flatMap(({ turn_id: turnId, tenant, media }) =>
    createMediaInserts(sql.media, { turnId, tenant }, media, sealer),
  )
  for (let from = 0; from < rows.length; from += MAX_ITEM_ROWS) {
    const chunk = rows.slice(from, from + MAX_ITEM_ROWS)
    queries.push(sql.insertItems(chunk.length)(chunk))
  }
  return queries
}

/**
 * Whoever had a turn forgotten wants nothing of it back. Items have one foreign key, that of their
 * turn, and what a batch writes beside them is of the same turn or asks for it.
 */
function unlessGone(error: unknown): readonly SqlRows[] {
  const { message, code } = error as { readonly message?: unknown; readonly code?: unknown }
  if (code === FOREIGN_KEY_VIOLATION || /foreign key/i.test(String(message))) return []
  throw error
}

/** In Postgres, which may say it in any language. */
const FOREIGN_KEY_VIOLATION = '23503'

/** The conversation that the turn holds goes on from it, if it succeeded, and is free again. */
export function createHeadMoves(
  sql: Pick<ConversationStatements, 'moveHead'>,
  { turnId, tenant, holdsConversation = false }: TurnEnding,
): readonly SqlQuery[] {
  return holdsConversation
    ? [sql.moveHead({ id: encodeColumn(turnId), tenant: encodeColumn(tenant) })]
    : []
}

function forgottenMeanwhile(): GatewayError {
  return new GatewayError(
    'store_unavailable',
    'The response cannot be stored, because what it belongs to was forgotten after it was asked for. Ask again.',
    { headers: { 'retry-after': '1' } },
  )
}

function tooLong(): GatewayError {
  return new GatewayError(
    'context_length_exceeded',
    `The conversation has more than ${MAX_CHAIN_TURNS} turns or ${MAX_CHAIN_ITEMS} items, which is more than can be loaded. Start a new one.`,
  )
}
