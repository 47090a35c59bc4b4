/** The verbs of conversations over any engine, each of them one round trip. */
import type { JsonObject } from '../conversation/json.ts'
import { fromColumn, toColumn } from './column.ts'
import {
  createConversationStatements,
  type ConversationHolding,
  type Holder,
} from './conversation-statements.ts'
import type {
  Conversation,
  ConversationHold,
  ConversationStore,
  Held,
  HeldConversation,
  NewConversation,
} from './conversation-store.ts'
import type { Engine, Query } from './engine.ts'
import { insertItems } from './kysely-store.ts'
import { ownerKey, type Owner } from './owner.ts'
import { endingRow, inputRows, turnRow } from './rows.ts'
import type { Sealer } from './seal.ts'
import { createStatements, type Statements } from './statements.ts'
import type { NewTurn } from './store.ts'
import type { ConversationRow } from './tables.ts'
import { OPEN_VAULT, type Vault } from './vault.ts'

export function createConversationStore(
  engine: Engine,
  { sealer }: Vault = OPEN_VAULT,
): ConversationStore {
  const sql = createConversationStatements(engine.language)
  const turns = createStatements(engine.language)
  return {
    async createConversation(conversation, turn) {
      const row = conversationRow(conversation, turn?.id ?? null)
      const first = turn === null ? [] : wholeTurn(turns, turn, sealer)
      await engine.write([...first, sql.insertConversation(row)])
    },
    async findConversation(owner, id) {
      const [rows = []] = await engine.read([sql.findConversation(keyOf(owner, id))])
      return onlyConversation(rows as readonly ConversationRow[])
    },
    async relabelConversation(owner, id, metadata) {
      const labels = { ...keyOf(owner, id), metadata: JSON.stringify(metadata) }
      const [rows = []] = await engine.write([sql.relabelConversation(labels)])
      return onlyConversation(rows as readonly ConversationRow[])
    },
    async deleteConversation(owner, id, nowMs) {
      const key = keyOf(owner, id)
      const [deleted = [], left = []] = await engine.write([
        sql.deleteConversation({ ...key, nowMs }),
        sql.findConversation(key),
        sql.markTurns({ ...key, nowMs }),
        sql.forgetEvents(key),
        sql.removeTurns(key),
      ])
      if (deleted.length > 0) return 'deleted'
      return left.length > 0 ? 'busy' : 'unknown'
    },
    async holdConversation(hold) {
      const [held = [], there = []] = await engine.write(
        [sql.holdConversation(holdingOf(hold)), sql.findConversation(keyOf(hold, hold.id))],
        'kill',
      )
      return heldOf(held as readonly Pick<ConversationRow, 'head'>[], there.length > 0)
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
      const rows = await engine.write([...wholeTurn(turns, turn, sealer), sql.moveHead(key)])
      return (rows.at(-1) ?? []).length > 0
    },
    async hideItem(owner, { turnId, side, index }) {
      const place = { ...ownerKey(owner), turnId: toColumn(turnId), side, index }
      await engine.write([sql.hideItem(place)])
    },
  }
}

function keyOf(owner: Owner, id: string) {
  return { ...ownerKey(owner), id: toColumn(id) }
}

function holderOf({ id, by, ...owner }: HeldConversation): Holder {
  return { ...keyOf(owner, id), by: toColumn(by) }
}

function holdingOf(hold: ConversationHold): ConversationHolding {
  return { ...holderOf(hold), nowMs: hold.nowMs, untilMs: hold.untilMs }
}

function heldOf(held: readonly Pick<ConversationRow, 'head'>[], isThere: boolean): Held {
  const [row] = held
  if (row === undefined) return { type: isThere ? 'busy' : 'unknown' }
  return { type: 'held', head: row.head === null ? null : fromColumn(row.head) }
}

/** A turn that is over as soon as it begins: nobody has to answer it. */
function wholeTurn(turns: Statements, turn: NewTurn, sealer: Sealer): readonly Query[] {
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
    turns.insertTurn(turnRow(turn, sealer)),
    ...insertItems(turns, inputRows(turn, sealer)),
    turns.endTurn(endingRow(ending, sealer)),
  ]
}

function conversationRow(conversation: NewConversation, head: string | null): ConversationRow {
  const { id, tenant, user, metadata, createdAtMs } = conversation
  return {
    id: toColumn(id),
    tenant: toColumn(tenant),
    user_id: user === null ? null : toColumn(user),
    metadata: JSON.stringify(metadata),
    created_at: createdAtMs,
    head: head === null ? null : toColumn(head),
    busy_by: null,
    busy_until: null,
  }
}

function onlyConversation(rows: readonly ConversationRow[]): Conversation | null {
  const [row] = rows
  if (row === undefined) return null
  return {
    id: fromColumn(row.id),
    tenant: fromColumn(row.tenant),
    user: row.user_id === null ? null : fromColumn(row.user_id),
    metadata: JSON.parse(row.metadata) as JsonObject,
    createdAtMs: row.created_at,
    head: row.head === null ? null : fromColumn(row.head),
  }
}
