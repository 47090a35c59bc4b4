/**
 * SQL implementation of `TurnStore` for any engine. Each method takes at most one round trip, but
 * `loadChain` takes two if items contain media, and more if the chain is large or has no items, and
 * `openTurn` takes two if it inserts no turn. Database
 * errors are passed on, except that of a deleted turn.
 */
import type { JsonObject } from '../../core/json/json.ts'
import { createStoreUnavailableError, GatewayError } from '../../core/errors/gateway-error.ts'
import type { ClaimMemory } from '../../core/ports/claim-memory.ts'
import { encodeMessageOfTurn } from '../recall/sql-answer-message-store.ts'
import { encodeColumnText } from '../database/encode-column-text.ts'
import {
  createConversationStatements,
  type ConversationStatements,
} from '../conversations/conversation-statements.ts'
import type { Engine, SqlQuery, SqlRows } from '../database/engine-interface.ts'
import { writeAfterLock } from '../deletion/deletion-locks.ts'
import { encodeOwnedRowKey } from '../owner.ts'
import { decodeOrderedTurns, orderChain, type ItemBodyRow } from './decode-turn-rows.ts'
import { decryptTurnRows } from './decrypt-turn-rows.ts'
import { ignoreDeletedTurn } from './ignore-deleted-turn.ts'
import { buildItemAmendments, buildItemInserts } from './insert-item-queries.ts'
import {
  encodeTurnEnding,
  encodeInputItems,
  encodeOutputItems,
  encodeTurn,
} from './encode-turn-rows.ts'
import type { StorageCipher } from '../encryption/cipher.ts'
import {
  createTurnStatements,
  MAX_CHAIN_BYTES,
  MAX_CHAIN_ITEMS,
  MAX_CHAIN_TURNS,
  type TurnIdList,
  type TurnStatements,
} from './turn-statements.ts'
import { claimItemMemory, readInSlices, sumBytes } from './read-items-in-slices.ts'
import { addRequestSize, hasRequest, readRequests, type SizedTurnRow } from './sized-turn-row.ts'
import type { NewTurn, TurnStore, TurnEnding } from './turn-store-interface.ts'
import { NO_ENCRYPTION, decryptRows, type RowEncryption } from '../encryption/decrypt-rows.ts'
import { NO_ITEM_TEXTS, type ItemTextCache } from '../upstream-requests/item-text-cache.ts'

export function createTurnStore(
  engine: Engine,
  encryption: RowEncryption = NO_ENCRYPTION,
  texts: ItemTextCache = NO_ITEM_TEXTS,
  turnLeaseMs: number | null = null,
): TurnStore {
  const { cipher } = encryption
  const sql = createTurnStatements(engine.language)
  const conversations = createConversationStatements(engine.language)
  const readOfTurns = async (
    query: (list: TurnIdList) => SqlQuery,
    turns: readonly SizedTurnRow[],
  ): Promise<SqlRows> => {
    const turnIds = JSON.stringify(turns.map(({ id }) => id))
    return (await engine.read([query({ turnIds })]))[0] ?? []
  }
  const readItems = (turns: readonly SizedTurnRow[]) => readOfTurns(sql.itemsOfTurns, turns)
  const countItems = async (turns: readonly SizedTurnRow[]): Promise<number> => {
    const [row] = await readOfTurns(sql.countItemsOfTurns, turns)
    return (row as { readonly items: number }).items
  }
  return {
    async openTurn(turn) {
      // Does not wait for the disk, because the first token of the answer waits for this write. The
      // write of `closeTurn` waits for the disk.
      if (turnLeaseMs === null) return writeNewTurn({ engine, sql, cipher, texts }, turn)
      const lease = sql.renewReplica({ id: encodeColumnText(turn.id), leaseMs: turnLeaseMs })
      await writeNewTurn({ engine, sql, cipher, texts }, { ...turn, replicaId: turn.id }, [lease])
    },
    turnLease:
      turnLeaseMs === null
        ? undefined
        : {
            renewMs: turnLeaseMs / 3,
            async renew(turnId) {
              const lease = sql.renewReplica({ id: encodeColumnText(turnId), leaseMs: turnLeaseMs })
              await engine.write([lease], 'kill')
            },
          },
    async journalItems(turn, items) {
      if (items.length === 0) return
      const rows = encodeOutputItems(turn, items, cipher)
      await engine.write(buildItemInserts(sql, rows, cipher), 'kill').catch(ignoreDeletedTurn)
    },
    async closeTurn(ending) {
      const { turnId: id, tenant, user } = ending
      const rows = encodeOutputItems({ id, tenant, user }, ending.items, cipher)
      const items = [
        ...buildItemInserts(sql, rows, cipher),
        ...buildItemAmendments(sql, ending, cipher),
      ]
      const end = sql.endTurn(encodeTurnEnding(ending, cipher))
      const lease = turnLeaseMs === null ? [] : [sql.retireReplica({ id: encodeColumnText(id) })]
      const queries = [...items, end, ...buildHeadMoves(conversations, ending), ...lease]
      const written = await engine.write(queries, 'power-cut', 'waits').catch(ignoreDeletedTurn)
      return (written[items.length] ?? []).length > 0
    },
    async loadChain(owner, turnId, { claimMemory = () => undefined, undecryptable = 'fail' } = {}) {
      const key = encodeOwnedRowKey(owner, turnId)
      // Reads turns first: if a turn has ended by then, all of its items are stored.
      const [turns = [], items = []] = await engine.read([sql.chainTurns(key), sql.chainItems(key)])
      if (turns.length === 0) return null
      const path = orderChain(key.id, turns as readonly SizedTurnRow[]).map(addRequestSize)
      const count = items.length > 0 ? items.length : await countItems(path)
      if (path.length > MAX_CHAIN_TURNS || count > MAX_CHAIN_ITEMS) throw createChainTooLongError()
      const claim = claimUpToLimit(claimMemory)
      claimItemMemory(sumBytes(path), count, claim)
      let parentRequest: JsonObject = {}
      const decode = async (slice: readonly SizedTurnRow[], rows: SqlRows) => {
        const { turns, items, failures } = await decryptTurnRows(
          engine,
          sql.media,
          key,
          { turns: slice, items: rows as readonly ItemBodyRow[] },
          encryption,
          { claimMemory: claim },
        )
        const decoded = decryptRows(
          encryption,
          key,
          (reader) => decodeOrderedTurns(turns, items, parentRequest, reader),
          { rule: undecryptable, failures },
        )
        parentRequest = decoded.at(-1)?.request ?? parentRequest
        return decoded
      }
      // The statements return no items or request fields if they are too large to be read at once.
      return items.length > 0 && path.every(hasRequest)
        ? decode(path, items)
        : readInSlices(path, async (slice) =>
            decode(await readRequests(engine, sql, slice), await readItems(slice)),
          )
    },
    async ping() {
      await engine.read([sql.ping(null)])
    },
    close: engine.close,
  }
}

interface TurnWriter {
  readonly engine: Engine
  readonly sql: TurnStatements
  readonly cipher: StorageCipher
  readonly texts: ItemTextCache
}

/**
 * Writes a turn with its input items, and runs `extraQueries` in the same transaction. If no turn
 * was inserted, a second query finds out the reason. Does nothing if the turn exists already.
 * Throws if the thread or user of the turn was deleted after the turn began.
 */
export async function writeNewTurn(
  { engine, sql, cipher, texts }: TurnWriter,
  turn: NewTurn,
  extraQueries: readonly SqlQuery[] = [],
): Promise<void> {
  const { row, pieces } = encodeTurn(turn, cipher)
  const rows = encodeInputItems(turn, cipher)
  const items = buildItemInserts(sql, rows, cipher)
  texts.add(
    row.tenant,
    row.id,
    rows.map(({ text }) => text),
  )
  const message = encodeMessageOfTurn(turn)
  const queries = [
    sql.insertTurn(row),
    ...pieces.map(sql.pieces.insertPiece),
    ...items,
    ...(message === null ? [] : [sql.answerMessages.insert(message)]),
    ...extraQueries,
  ]
  const [inserted = []] = await writeAfterLock(
    engine,
    'turnCreation',
    row.tenant,
    queries,
    'kill',
  ).catch(ignoreDeletedTurn)
  if (inserted.length > 0) return
  const [existing = []] = await engine.read([sql.hasTurn(row)])
  if (existing.length === 0) throw createSourceDeletedError()
}

/**
 * Builds the query that makes the turn the head of the conversation that it has locked. Returns an
 * empty list if the turn has no lock.
 */
export function buildHeadMoves(
  sql: Pick<ConversationStatements, 'moveHead'>,
  { turnId, tenant, hasConversationLock = false }: TurnEnding,
): readonly SqlQuery[] {
  return hasConversationLock
    ? [sql.moveHead({ id: encodeColumnText(turnId), tenant: encodeColumnText(tenant) })]
    : []
}

function createSourceDeletedError(): GatewayError {
  return createStoreUnavailableError(
    'The response cannot be stored, because what it belongs to was forgotten after it was asked for. Ask again.',
  )
}

/** Returns a function that claims the memory of a chain, and throws as soon as the chain is too large. */
function claimUpToLimit(claimMemory: ClaimMemory): ClaimMemory {
  let claimedBytes = 0
  return (size) => {
    claimedBytes += size.bytes
    if (claimedBytes > MAX_CHAIN_BYTES) throw createChainTooLongError()
    claimMemory(size)
  }
}

function createChainTooLongError(): GatewayError {
  return new GatewayError(
    'context_length_exceeded',
    `The conversation has more than ${MAX_CHAIN_TURNS} turns, ${MAX_CHAIN_ITEMS} items or ${MAX_CHAIN_BYTES / 1_000_000} MB, which is more than can be loaded. Start a new one.`,
  )
}
