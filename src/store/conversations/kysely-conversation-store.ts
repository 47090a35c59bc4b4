/** The verbs of conversations over any engine, each of them one round trip. */
import type { JsonObject } from '../../core/json/json.ts'
import { decodeColumn, encodeColumn } from '../database/escape-column-text.ts'
import {
  createConversationStatements,
  type ConversationHolding,
  type ConversationHolderKey,
} from './conversation-statements.ts'
import type {
  Conversation,
  ConversationHold,
  ConversationState,
  ConversationStore,
  ConversationHolder,
  NewConversation,
} from './conversation-store-interface.ts'
import type { Engine, SqlQuery } from '../database/engine-interface.ts'
import { createFactStatements } from '../facts/fact-statements.ts'
import { writeAfterLock } from '../deletion/deletion-locks.ts'
import { createDeletionLogStatements } from '../deletion/deletion-log-statements.ts'
import { createItemInserts } from '../turns/kysely-turn-store.ts'
import { createLayerStatements } from '../memory-layers/memory-layer-statements.ts'
import { encodeOwner } from '../owner.ts'
import type { Caller } from '../../core/client/caller.ts'
import {
  createMediaReleaseStatements,
  createReleaseQueries,
  createSweepQueries,
} from '../media/media-release-statements.ts'
import { encodeTurnEnding, encodeInputItems, encodeTurn } from '../turns/encode-turn-rows.ts'
import type { StorageCipher } from '../encryption/cipher.ts'
import { createTurnStatements, type TurnStatements } from '../turns/turn-statements.ts'
import type { NewTurn } from '../turns/turn-store-interface.ts'
import { createSummaryStatements } from '../summaries/summary-statements.ts'
import type { ConversationRow } from '../database/table-row-types.ts'
import {
  NO_ENCRYPTION,
  readEncryptedRows,
  type RowEncryption,
} from '../encryption/read-encrypted-rows.ts'

export function createConversationStore(
  engine: Engine,
  vault: RowEncryption = NO_ENCRYPTION,
): ConversationStore {
  const { sealer } = vault
  const sql = createConversationStatements(engine.language)
  const turns = createTurnStatements(engine.language)
  const summaries = createSummaryStatements(engine.language)
  const facts = createFactStatements(engine.language)
  const layers = createLayerStatements(engine.language)
  const release = createMediaReleaseStatements(engine.language)
  const forgotten = createDeletionLogStatements(engine.language)
  return {
    async createConversation(conversation, turn) {
      const row = conversationRow(conversation, turn?.id ?? null, sealer)
      const first = turn === null ? [] : wholeTurn(turns, turn, sealer)
      const queries = [...first, sql.insertConversation(row)]
      await writeAfterLock(engine, 'besideNotes', row.tenant, queries)
    },
    async findConversation(owner, id) {
      const [rows = []] = await engine.read([sql.findConversation(keyOf(owner, id))])
      return onlyConversation(rows as readonly ConversationRow[], vault)
    },
    async relabelConversation(owner, id, metadata) {
      const labels = { ...keyOf(owner, id), metadata: JSON.stringify(metadata) }
      const [rows = []] = await engine.write([sql.relabelConversation(labels)])
      return onlyConversation(rows as readonly ConversationRow[], vault)
    },
    async setContext(owner, id, context) {
      const key = keyOf(owner, id)
      const sealed = context === null ? null : sealedContext(context, key, sealer)
      const [rows = []] = await engine.write([sql.setContext({ ...key, context: sealed })])
      return onlyConversation(rows as readonly ConversationRow[], vault)
    },
    async resetConversation(owner, id) {
      const [rows = []] = await engine.write([sql.resetConversation(keyOf(owner, id))])
      return onlyConversation(rows as readonly ConversationRow[], vault)
    },
    async deleteConversation(owner, id, nowMs) {
      const key = keyOf(owner, id)
      const [deleted = [], left = []] = await writeAfterLock(engine, 'alone', key.tenant, [
        sql.deleteConversation({ ...key, nowMs }),
        sql.findConversation(key),
        forgotten.noteConversation({ ...key, nowMs }),
        facts.removeOfConversation(key),
        sql.markTurns({ ...key, nowMs }),
        sql.forgetEvents(key),
        ...createReleaseQueries(release.ofConversation, key),
        sql.removeTurns(key),
        summaries.removeOfConversation(key),
        layers.removeOfConversation(key),
        ...createSweepQueries(release),
      ])
      if (deleted.length > 0) return 'deleted'
      return left.length > 0 ? 'busy' : 'unknown'
    },
    async holdConversation(hold) {
      const [held = [], there = []] = await engine.write(
        [sql.holdConversation(holdingOf(hold)), sql.findConversation(keyOf(hold, hold.id))],
        'kill',
      )
      const [row] = held as readonly PlaceRow[]
      if (row === undefined) return { type: there.length > 0 ? 'busy' : 'unknown' }
      return { type: 'held', ...placeIn(row, keyOf(hold, hold.id), vault) }
    },
    async renewHold(hold) {
      const [rows = []] = await engine.write([sql.renewHold(holdingOf(hold))], 'kill')
      return rows.length > 0
    },
    async letGo(hold) {
      await engine.write([sql.letGo(holderOf(hold))], 'kill')
    },
    async appendItems(turn) {
      const key = keyOf(turn, turn.id)
      const queries = [...wholeTurn(turns, turn, sealer), sql.moveHead(key)]
      const rows = await writeAfterLock(engine, 'besideNotes', key.tenant, queries)
      return (rows.at(-1) ?? []).length > 0
    },
    async hideItem(owner, { turnId, side, index }) {
      const place = { ...encodeOwner(owner), turnId: encodeColumn(turnId), side, index }
      await engine.write([sql.hideItem(place)])
    },
  }
}

function keyOf(owner: Caller, id: string) {
  return { ...encodeOwner(owner), id: encodeColumn(id) }
}

function holderOf({ id, by, ...owner }: ConversationHolder): ConversationHolderKey {
  return { ...keyOf(owner, id), by: encodeColumn(by) }
}

function holdingOf(hold: ConversationHold): ConversationHolding {
  return { ...holderOf(hold), nowMs: hold.nowMs, untilMs: hold.untilMs }
}

type PlaceRow = Pick<ConversationRow, 'head' | 'context' | 'reset_after'>
type KeyRow = Pick<ConversationRow, 'id' | 'tenant'>

/** Of a context that nobody can read, nothing holds. */
function placeIn(row: PlaceRow, { id, tenant }: KeyRow, vault: RowEncryption): ConversationState {
  const { head, context, reset_after: resetAfter } = row
  const read = (column: string) =>
    readEncryptedRows(vault, tenant, ({ object }) => object(column, contextPlace(id)))
  return {
    head: head === null ? null : decodeColumn(head),
    context: context === null ? null : read(context),
    resetAfter: resetAfter === null ? null : decodeColumn(resetAfter),
  }
}

function sealedContext(
  context: JsonObject,
  { id, tenant }: KeyRow,
  { seal }: StorageCipher,
): string {
  return seal(JSON.stringify(context), { tenant, ...contextPlace(id) })
}

/** `id` as it stands in its column. */
function contextPlace(id: string) {
  return { turnId: id, part: 'context', position: 0 } as const
}

/** A turn that is over as soon as it begins: nobody has to answer it. */
function wholeTurn(
  turns: TurnStatements,
  turn: NewTurn,
  sealer: StorageCipher,
): readonly SqlQuery[] {
  const { id, tenant, createdAtMs, origin } = turn
  const ending = {
    turnId: id,
    tenant,
    state: 'complete',
    endedAtMs: createdAtMs,
    usage: null,
    failure: null,
    origin,
    items: [],
  } as const
  return [
    turns.insertTurn(encodeTurn(turn, sealer)),
    ...createItemInserts(turns, encodeInputItems(turn, sealer), sealer),
    turns.endTurn(encodeTurnEnding(ending, sealer)),
  ]
}

function conversationRow(
  conversation: NewConversation,
  head: string | null,
  sealer: StorageCipher,
): ConversationRow {
  const { user, metadata, createdAtMs, context = null } = conversation
  const key = { id: encodeColumn(conversation.id), tenant: encodeColumn(conversation.tenant) }
  return {
    ...key,
    user_id: user === null ? null : encodeColumn(user),
    metadata: JSON.stringify(metadata),
    created_at: createdAtMs,
    head: head === null ? null : encodeColumn(head),
    busy_by: null,
    busy_until: null,
    context: context === null ? null : sealedContext(context, key, sealer),
    reset_after: null,
  }
}

function onlyConversation(
  rows: readonly ConversationRow[],
  vault: RowEncryption,
): Conversation | null {
  const [row] = rows
  if (row === undefined) return null
  return {
    id: decodeColumn(row.id),
    tenant: decodeColumn(row.tenant),
    user: row.user_id === null ? null : decodeColumn(row.user_id),
    metadata: JSON.parse(row.metadata) as JsonObject,
    createdAtMs: row.created_at,
    ...placeIn(row, row, vault),
  }
}
