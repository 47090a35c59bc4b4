/** The run store's verbs over any engine, each of them one round trip. */
import { firstTurnIdAt } from '../../core/turn-derived-ids.ts'
import { fromColumn, toColumn } from '../database/escape-column-text.ts'
import { createConversationStatements } from '../conversations/conversation-statements.ts'
import type { Engine, Query, Rows, Survives } from '../database/engine-interface.ts'
import { movedHead, writeNewTurn } from '../turns/kysely-turn-store.ts'
import { insertMedia } from '../media/encode-and-restore-media-rows.ts'
import type { MediaStatements } from '../media/media-statements.ts'
import { ownerKey } from '../owner.ts'
import type { Caller } from '../../core/client/caller.ts'
import { originOf } from '../turns/decode-turn-rows.ts'
import { endingRow, outputRows } from '../turns/encode-turn-rows.ts'
import { createReplicaStatements } from './replica-and-orphan-statements.ts'
import { createRunStatements, type HoldKey, type RunStatements } from './run-and-log-statements.ts'
import {
  LOG_KEPT_HOURS,
  type EventGroup,
  type FoundRun,
  type Held,
  type RunHold,
  type LogPage,
  type RunStore,
} from './run-store-interface.ts'
import type { Place, Sealer } from '../encryption/cipher.ts'
import { createStatements } from '../turns/turn-statements.ts'
import type { PlacedItem, TurnState } from '../turns/turn-store-interface.ts'
import type { ItemRow, ReplicaRow, StreamEventRow, TurnRow } from '../database/table-row-types.ts'
import { OPEN_VAULT, reading, type Reading, type Vault } from '../encryption/read-encrypted-rows.ts'
import { NO_TEXTS, type WrittenTexts } from '../upstream-requests/item-text-cache.ts'

export function createRunStore(
  engine: Engine,
  vault: Vault = OPEN_VAULT,
  texts: WrittenTexts = NO_TEXTS,
): RunStore {
  const { sealer } = vault
  const sql = createRunStatements(engine.language)
  const turns = createStatements(engine.language)
  const itemSql = { insertItem: sql.insertItem, media: turns.media }
  const replicas = createReplicaStatements(engine.language)
  const conversations = createConversationStatements(engine.language)
  /** Whether the query that was asked last returned a row. */
  const isHeld = async (queries: readonly Query[], survives: Survives): Promise<Held> =>
    ((await engine.write(queries, survives)).at(-1) ?? []).length > 0

  return {
    async openRun(turn, opening) {
      const log =
        opening === null ? [] : [sql.insertOpening(eventRow(turn.id, turn.tenant, opening, sealer))]
      await writeNewTurn({ engine, sql: turns, sealer, texts }, turn, log)
    },
    startRun: (hold) => isHeld([sql.startRun(holdKey(hold))], 'kill'),
    recordRun: (hold, events, items) =>
      isHeld(
        [...newItems(itemSql, hold, items, sealer), lastOf(sql, hold, events, sealer)],
        'kill',
      ),
    async endRun(hold, ending, events) {
      const log = events === null ? [] : [newEvents(sql, hold, events, sealer)]
      const rows = [...newItems(itemSql, hold, ending.items, sealer), ...log]
      const end = sql.endRun({ ...endingRow(ending, sealer), ...holdKey(hold) })
      const written = await engine.write([...rows, end, ...movedHead(conversations, ending)])
      return (written[rows.length] ?? []).length > 0
    },
    takeRun: (run, owner) => isHeld([sql.takeRun({ ...holdKey(run), taker: owner })], 'kill'),
    async heldRuns(owner, turnIds) {
      const [rows = []] = await engine.read([
        replicas.heldRuns({ owner, ids: turnIds.map(toColumn) }),
      ])
      return new Set((rows as readonly Pick<TurnRow, 'id'>[]).map(({ id }) => fromColumn(id)))
    },
    async readLog(whose, turnId, from) {
      const key = { id: toColumn(turnId), ...ownerKey(whose), from }
      // The turn before its log: when a turn is over as it is read, its log is whole by then.
      const [[head] = [], groups = []] = await engine.read([sql.logHead(key), sql.logGroups(key)])
      if (head === undefined) return null
      const log = reading(vault, key.tenant, (rows) => groupsOf(key.id, groups, rows))
      return logPage(turnId, whose, head as HeadRow, log)
    },
    async journaledItems(tenant, turnId) {
      const key = { id: toColumn(turnId), tenant: toColumn(tenant) }
      const [rows = []] = await engine.read([sql.outPositions(key)])
      return new Set((rows as readonly Pick<ItemRow, 'position'>[]).map(({ position }) => position))
    },
    async orphanedRuns(nowMs) {
      const [rows = []] = await engine.read([replicas.orphanedRuns(nowMs)])
      return (rows as readonly OrphanRow[]).map(foundRun)
    },
    async renewReplica(id, nowMs, aliveUntil) {
      const renewed = replicas.renewReplica({ id, aliveUntil })
      const forgotten = replicas.forgetReplicas(nowMs - FORGET_MS)
      const cleared = replicas.forgetLogs(firstTurnIdAt(nowMs - LOG_KEPT_HOURS * FORGET_MS))
      await engine.write([renewed, forgotten, cleared], 'kill')
    },
    async retireReplica(id) {
      await engine.write([replicas.retireReplica(id)], 'kill')
    },
  }
}

/** A replica that is forgotten is as dead as one that was not renewed. */
const FORGET_MS = 60 * 60 * 1000

function holdKey({ turnId, tenant, owner }: FoundRun): HoldKey {
  return { id: toColumn(turnId), tenant: toColumn(tenant), owner }
}

function eventRow(
  turnId: string,
  tenant: string,
  { first, last, text }: EventGroup,
  { seal }: Sealer,
): StreamEventRow {
  const place: Place = {
    tenant: toColumn(tenant),
    turnId: toColumn(turnId),
    part: 'events',
    position: first,
  }
  return {
    turn_id: place.turnId,
    tenant: place.tenant,
    first_number: first,
    last_number: last,
    text: seal(toColumn(text), place),
  }
}

function newEvents(sql: RunStatements, hold: RunHold, events: EventGroup, sealer: Sealer): Query {
  const row = eventRow(hold.turnId, hold.tenant, events, sealer)
  return sql.insertEvents({ ...row, ...holdKey(hold) })
}

function newItems(
  sql: Pick<RunStatements, 'insertItem'> & { readonly media: MediaStatements },
  hold: RunHold,
  items: readonly PlacedItem[],
  sealer: Sealer,
): readonly Query[] {
  const key = holdKey(hold)
  return outputRows(hold.turnId, hold.tenant, items, sealer).flatMap(({ media, ...row }) => [
    ...insertMedia(sql.media, { turnId: row.turn_id, tenant: row.tenant }, media, sealer),
    sql.insertItem({ ...row, ...key }),
  ])
}

/** The query whose row says that the run was the owner's. */
function lastOf(
  sql: RunStatements,
  hold: RunHold,
  events: EventGroup | null,
  sealer: Sealer,
): Query {
  return events === null ? sql.holdRun(holdKey(hold)) : newEvents(sql, hold, events, sealer)
}

type HeadRow = Pick<
  TurnRow,
  | 'dialect'
  | 'wire'
  | 'account'
  | 'model'
  | 'prefix_hash'
  | 'conversation'
  | 'state'
  | 'background'
  | 'owner'
  | 'created_at'
  | 'deleted_at'
> & {
  readonly alive_until: ReplicaRow['alive_until'] | null
  readonly first_number: number | null
}

function logPage(
  turnId: string,
  { tenant, user }: Caller,
  head: HeadRow,
  groups: LogPage['groups'],
): LogPage {
  return {
    turnId,
    tenant,
    user,
    dialect: head.dialect,
    origin: originOf(head),
    conversation: head.conversation === null ? null : fromColumn(head.conversation),
    state: head.state as TurnState,
    background: head.background === 1,
    owner: head.owner,
    isDeleted: head.deleted_at !== null,
    aliveUntilMs: head.alive_until,
    createdAtMs: head.created_at,
    isLogged: head.first_number !== null,
    groups,
  }
}

function groupsOf(turnId: string, rows: Rows, { text }: Reading): readonly EventGroup[] {
  return (rows as readonly StreamEventRow[]).map((row) => {
    const { first_number: first, last_number: last } = row
    const said = text(row.text, { turnId, part: 'events', position: first })
    return { first, last, text: said === null ? '' : fromColumn(said) }
  })
}

type OrphanRow = Pick<TurnRow, 'id' | 'tenant' | 'user_id' | 'owner'>

function foundRun({ id, tenant, user_id, owner }: OrphanRow): FoundRun {
  const user = user_id === null ? null : fromColumn(user_id)
  return { turnId: fromColumn(id), tenant: fromColumn(tenant), user, owner }
}
