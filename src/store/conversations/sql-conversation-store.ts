/** SQL implementation of `ConversationStore` for any engine. Each method takes one round trip. */
import type { JsonObject } from '../../core/json/json.ts'
import {
  decodeColumnText,
  decodeNullableColumnText,
  encodeColumnText,
  encodeNullableColumn,
} from '../database/encode-column-text.ts'
import {
  createConversationStatements,
  type ConversationLockParameters,
  type ConversationLockHolderKey,
} from './conversation-statements.ts'
import type {
  Conversation,
  ConversationLockRequest,
  ConversationState,
  ConversationStore,
  ConversationLockHolder,
  NewConversation,
} from './conversation-store-interface.ts'
import type { Engine, SqlQuery } from '../database/engine-interface.ts'
import { TRUSTED_CLOCK, type DatabaseClock } from '../leases/database-clock.ts'
import { createFactStatements } from '../facts/fact-statements.ts'
import { writeAfterLock } from '../deletion/deletion-locks.ts'
import { createDeletionLogStatements } from '../deletion/deletion-log-statements.ts'
import { createErasureStatements } from '../deletion/erasure-statements.ts'
import { createErasureRunner } from '../deletion/run-erasure.ts'
import { buildItemInserts } from '../turns/insert-item-queries.ts'
import { createMemoryLayerStatements } from '../memory-layers/memory-layer-statements.ts'
import { encodeOwnedRowKey, encodeOwner, type OwnedRowKey } from '../owner.ts'
import { encodeTurnEnding, encodeInputItems, encodeTurn } from '../turns/encode-turn-rows.ts'
import { locateText, type StorageCipher } from '../encryption/cipher.ts'
import { createTurnStatements, type TurnStatements } from '../turns/turn-statements.ts'
import { ignoreDeletedTurn } from '../turns/ignore-deleted-turn.ts'
import type { NewTurn } from '../turns/turn-store-interface.ts'
import { createSummaryStatements } from '../summaries/summary-statements.ts'
import type { ConversationRow } from '../database/table-row-types.ts'
import {
  NO_ENCRYPTION,
  decryptRows,
  type RowEncryption,
  type UndecryptableRule,
} from '../encryption/decrypt-rows.ts'

export function createConversationStore(
  engine: Engine,
  encryption: RowEncryption = NO_ENCRYPTION,
  clock: DatabaseClock = TRUSTED_CLOCK,
): ConversationStore {
  const { cipher } = encryption
  const sql = createConversationStatements(engine.language)
  const turns = createTurnStatements(engine.language)
  const summaries = createSummaryStatements(engine.language)
  const facts = createFactStatements(engine.language)
  const layers = createMemoryLayerStatements(engine.language)
  const erasureSql = createErasureStatements(engine.language)
  const erasures = createErasureRunner(engine)
  const deletionLog = createDeletionLogStatements(engine.language)
  return {
    async createConversation(conversation, turn) {
      const row = encodeConversation(conversation, turn?.id ?? null, cipher)
      const first = turn === null ? [] : buildCompleteTurn(turns, turn, cipher)
      const queries = [...first, sql.insertConversation(row)]
      await writeAfterLock(engine, 'turnCreation', row.tenant, queries)
    },
    async findConversation(owner, id, rule = 'leave-out') {
      const [rows = []] = await engine.read([sql.findConversation(encodeOwnedRowKey(owner, id))])
      return decodeFirstConversation(rows as readonly ConversationRow[], encryption, rule)
    },
    async replaceMetadata(owner, id, metadata) {
      const labels = { ...encodeOwnedRowKey(owner, id), metadata: JSON.stringify(metadata) }
      const [rows = []] = await engine.write([sql.updateMetadata(labels)])
      return decodeFirstConversation(rows as readonly ConversationRow[], encryption)
    },
    async setPolicyOverrides(owner, id, context) {
      const key = encodeOwnedRowKey(owner, id)
      const encrypted = context === null ? null : encryptContext(context, key, cipher)
      const [rows = []] = await engine.write([sql.setContext({ ...key, context: encrypted })])
      return decodeFirstConversation(rows as readonly ConversationRow[], encryption)
    },
    async resetConversation(owner, id) {
      const [rows = []] = await engine.write([sql.resetConversation(encodeOwnedRowKey(owner, id))])
      return decodeFirstConversation(rows as readonly ConversationRow[], encryption, 'fail')
    },
    async deleteConversation(owner, id, nowMs) {
      const key = encodeOwnedRowKey(owner, id)
      const run = erasures.createRun()
      const [deleted = [], remaining = [], rest = []] = await writeAfterLock(
        engine,
        'deletion',
        key.tenant,
        [
          sql.deleteConversation({ ...key, ...clock.getExpectedTime() }),
          sql.findConversation(key),
          erasureSql.insertOfConversation({ ...key, ...run, nowMs }),
          deletionLog.logConversation({ ...key, nowMs }),
          facts.removeOfConversation(key),
          summaries.removeOfConversation(key),
          layers.removeOfConversation(key),
        ],
      )
      await erasures.finishInTime(rest, run)
      if (deleted.length > 0) return 'deleted'
      return remaining.length > 0 ? 'busy' : 'unknown'
    },
    async lockConversation(lock) {
      const [held = [], existing = []] = await engine.write(
        [
          sql.lockConversation({ ...encodeLockRequest(lock), ...clock.getExpectedTime() }),
          sql.findConversation(encodeOwnedRowKey(lock, lock.conversationId)),
        ],
        'kill',
      )
      const [row] = held as readonly StateRow[]
      if (row === undefined) return { type: existing.length > 0 ? 'busy' : 'unknown' }
      const key = encodeOwnedRowKey(lock, lock.conversationId)
      try {
        return { type: 'held', ...decodeState(row, key, encryption, 'fail') }
      } catch (error) {
        await engine.write([sql.releaseLock(encodeLockHolder(lock))], 'kill')
        throw error
      }
    },
    async renewLock(lock) {
      const [rows = []] = await engine.write([sql.renewLock(encodeLockRequest(lock))], 'kill')
      return rows.length > 0
    },
    async unlockConversation(lock) {
      await engine.write([sql.releaseLock(encodeLockHolder(lock))], 'kill')
    },
    async appendItems(turn) {
      const key = encodeOwnedRowKey(turn, turn.id)
      const queries = [
        ...buildCompleteTurn(turns, turn, cipher, 'insertTurnWithLock'),
        sql.moveHead(key),
      ]
      // Without the lock, no turn is inserted. Its items then violate their foreign key, so that nothing is written.
      const rows = await writeAfterLock(engine, 'turnCreation', key.tenant, queries).catch(
        ignoreDeletedTurn,
      )
      return (rows.at(-1) ?? []).length > 0
    },
    async hideItem(owner, { turnId, side, index }) {
      const position = { ...encodeOwner(owner), turnId: encodeColumnText(turnId), side, index }
      await engine.write([sql.hideItem(position)])
    },
  }
}

function encodeLockHolder({
  conversationId,
  turnId,
  ...owner
}: ConversationLockHolder): ConversationLockHolderKey {
  return { ...encodeOwnedRowKey(owner, conversationId), turnId: encodeColumnText(turnId) }
}

function encodeLockRequest(lock: ConversationLockRequest): ConversationLockParameters {
  return { ...encodeLockHolder(lock), leaseMs: lock.leaseMs }
}

type StateRow = Pick<ConversationRow, 'head' | 'context' | 'reset_after'>

/** Decodes the state of a conversation. With `leave-out`, undecryptable policy overrides count as none. */
function decodeState(
  row: StateRow,
  key: OwnedRowKey,
  encryption: RowEncryption,
  rule: UndecryptableRule,
): ConversationState {
  const { head, context, reset_after: resetAfterTurnId } = row
  const read = (column: string) =>
    decryptRows(
      encryption,
      key,
      ({ decryptObject }) => decryptObject(column, { rowId: key.id, part: 'context', position: 0 }),
      { rule },
    )
  return {
    headTurnId: decodeNullableColumnText(head),
    context: context === null ? null : read(context),
    resetAfterTurnId: decodeNullableColumnText(resetAfterTurnId),
  }
}

function encryptContext(context: JsonObject, key: OwnedRowKey, { encrypt }: StorageCipher): string {
  return encrypt(JSON.stringify(context), locateText(key, key.id, 'context'))
}

/**
 * Builds the queries that insert a turn and end it at once, because it contains only items that a
 * client added.
 */
function buildCompleteTurn(
  turns: TurnStatements,
  turn: NewTurn,
  cipher: StorageCipher,
  insert: 'insertTurn' | 'insertTurnWithLock' = 'insertTurn',
): readonly SqlQuery[] {
  const { id, tenant, user, createdAtMs, origin } = turn
  const ending = {
    turnId: id,
    tenant,
    user,
    state: 'complete',
    endedAtMs: createdAtMs,
    usage: null,
    failure: null,
    origin,
    items: [],
  } as const
  const { row, pieces } = encodeTurn(turn, cipher)
  return [
    turns[insert](row),
    ...pieces.map(turns.pieces.insertPiece),
    ...buildItemInserts(turns, encodeInputItems(turn, cipher), cipher),
    turns.endTurn(encodeTurnEnding(ending, cipher)),
  ]
}

function encodeConversation(
  conversation: NewConversation,
  head: string | null,
  cipher: StorageCipher,
): ConversationRow {
  const { user, metadata, createdAtMs, context = null } = conversation
  const key = encodeOwnedRowKey(conversation, conversation.id)
  return {
    id: key.id,
    tenant: key.tenant,
    user_id: encodeNullableColumn(user),
    metadata: JSON.stringify(metadata),
    created_at: createdAtMs,
    head: encodeNullableColumn(head),
    busy_by: null,
    busy_until: null,
    lease_ms: null,
    context: context === null ? null : encryptContext(context, key, cipher),
    reset_after: null,
  }
}

function decodeFirstConversation(
  rows: readonly ConversationRow[],
  encryption: RowEncryption,
  rule: UndecryptableRule = 'leave-out',
): Conversation | null {
  const [row] = rows
  if (row === undefined) return null
  const key = { id: row.id, tenant: row.tenant, user: row.user_id ?? '' }
  return {
    id: decodeColumnText(row.id),
    tenant: decodeColumnText(row.tenant),
    user: decodeNullableColumnText(row.user_id),
    metadata: JSON.parse(row.metadata) as JsonObject,
    createdAtMs: row.created_at,
    ...decodeState(row, key, encryption, rule),
  }
}
