/** The run store's verbs over any engine, each of them one round trip. */
import { minTurnIdAt } from '../../core/turn-derived-ids.ts'
import { decodeColumn, encodeColumn } from '../database/escape-column-text.ts'
import { createConversationStatements } from '../conversations/conversation-statements.ts'
import type { Engine, SqlQuery, SqlRows, WriteDurability } from '../database/engine-interface.ts'
import { createHeadMoves, writeNewTurn } from '../turns/kysely-turn-store.ts'
import { createMediaInserts } from '../media/encode-and-restore-media-rows.ts'
import type { MediaStatements } from '../media/media-statements.ts'
import { encodeOwner } from '../owner.ts'
import type { Caller } from '../../core/client/caller.ts'
import { decodeOrigin } from '../turns/decode-turn-rows.ts'
import { encodeTurnEnding, encodeOutputItems } from '../turns/encode-turn-rows.ts'
import { createReplicaAndOrphanStatements } from './replica-and-orphan-statements.ts'
import {
  createRunAndLogStatements,
  type RunHoldKey,
  type RunAndLogStatements,
} from './run-and-log-statements.ts'
import {
  LOG_RETENTION_HOURS,
  type EventGroup,
  type FoundRun,
  type RunHoldResult,
  type RunHold,
  type RunLogPage,
  type RunStore,
} from './run-store-interface.ts'
import type { RowLocation, StorageCipher } from '../encryption/cipher.ts'
import { createTurnStatements } from '../turns/turn-statements.ts'
import type { PlacedItem, TurnState } from '../turns/turn-store-interface.ts'
import type { ItemRow, ReplicaRow, StreamEventRow, TurnRow } from '../database/table-row-types.ts'
import {
  NO_ENCRYPTION,
  readEncryptedRows,
  type RowReader,
  type RowEncryption,
} from '../encryption/read-encrypted-rows.ts'
import { NO_ITEM_TEXTS, type ItemTextCache } from '../upstream-requests/item-text-cache.ts'

export function createRunStore(
  engine: Engine,
  vault: RowEncryption = NO_ENCRYPTION,
  texts: ItemTextCache = NO_ITEM_TEXTS,
): RunStore {
  const { sealer } = vault
  const sql = createRunAndLogStatements(engine.language)
  const turns = createTurnStatements(engine.language)
  const itemSql = { insertItem: sql.insertItem, media: turns.media }
  const replicas = createReplicaAndOrphanStatements(engine.language)
  const conversations = createConversationStatements(engine.language)
  /** Whether the query that was asked last returned a row. */
  const isHeld = async (
    queries: readonly SqlQuery[],
    survives: WriteDurability,
  ): Promise<RunHoldResult> => ((await engine.write(queries, survives)).at(-1) ?? []).length > 0

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
      const end = sql.endRun({ ...encodeTurnEnding(ending, sealer), ...holdKey(hold) })
      const written = await engine.write([...rows, end, ...createHeadMoves(conversations, ending)])
      return (written[rows.length] ?? []).length > 0
    },
    takeRun: (run, owner) => isHeld([sql.takeRun({ ...holdKey(run), taker: owner })], 'kill'),
    async heldRuns(owner, turnIds) {
      const [rows = []] = await engine.read([
        replicas.heldRuns({ owner, ids: turnIds.map(encodeColumn) }),
      ])
      return new Set((rows as readonly Pick<TurnRow, 'id'>[]).map(({ id }) => decodeColumn(id)))
    },
    async readLog(whose, turnId, from) {
      const key = { id: encodeColumn(turnId), ...encodeOwner(whose), from }
      // The turn before its log: when a turn is over as it is read, its log is whole by then.
      const [[head] = [], groups = []] = await engine.read([sql.logHead(key), sql.logGroups(key)])
      if (head === undefined) return null
      const log = readEncryptedRows(vault, key.tenant, (rows) => groupsOf(key.id, groups, rows))
      return logPage(turnId, whose, head as HeadRow, log)
    },
    async journaledItems(tenant, turnId) {
      const key = { id: encodeColumn(turnId), tenant: encodeColumn(tenant) }
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
      const cleared = replicas.forgetLogs(minTurnIdAt(nowMs - LOG_RETENTION_HOURS * FORGET_MS))
      await engine.write([renewed, forgotten, cleared], 'kill')
    },
    async retireReplica(id) {
      await engine.write([replicas.retireReplica(id)], 'kill')
    },
  }
}

/** A replica that is forgotten is as dead as one that was not renewed. */
const FORGET_MS = 60 * 60 * 1000

function holdKey({ turnId, tenant, owner }: FoundRun): RunHoldKey {
  return { id: encodeColumn(turnId), tenant: encodeColumn(tenant), owner }
}

function eventRow(
  turnId: string,
  tenant: string,
  { first, last, text }: EventGroup,
  { seal }: StorageCipher,
): StreamEventRow {
  const place: RowLocation = {
    tenant: encodeColumn(tenant),
    turnId: encodeColumn(turnId),
    part: 'events',
    position: first,
  }
  return {
    turn_id: place.turnId,
    tenant: place.tenant,
    first_number: first,
    last_number: last,
    text: seal(encodeColumn(text), place),
  }
}

function newEvents(
  sql: RunAndLogStatements,
  hold: RunHold,
  events: EventGroup,
  sealer: StorageCipher,
): SqlQuery {
  const row = eventRow(hold.turnId, hold.tenant, events, sealer)
  return sql.insertEvents({ ...row, ...holdKey(hold) })
}

function newItems(
  sql: Pick<RunAndLogStatements, 'insertItem'> & { readonly media: MediaStatements },
  hold: RunHold,
  items: readonly PlacedItem[],
  sealer: StorageCipher,
): readonly SqlQuery[] {
  const key = holdKey(hold)
  return encodeOutputItems(hold.turnId, hold.tenant, items, sealer).flatMap(({ media, ...row }) => [
    ...createMediaInserts(sql.media, { turnId: row.turn_id, tenant: row.tenant }, media, sealer),
    sql.insertItem({ ...row, ...key }),
  ])
}

/** The query whose row says that the run was the owner's. */
function lastOf(
  sql: RunAndLogStatements,
  hold: RunHold,
  events: EventGroup | null,
  sealer: StorageCipher,
): SqlQuery {
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
  groups: RunLogPage['groups'],
): RunLogPage {
  return {
    turnId,
    tenant,
    user,
    dialect: head.dialect,
    origin: decodeOrigin(head),
    conversation: head.conversation === null ? null : decodeColumn(head.conversation),
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

function groupsOf(turnId: string, rows: SqlRows, { text }: RowReader): readonly EventGroup[] {
  return (rows as readonly StreamEventRow[]).map((row) => {
    const { first_number: first, last_number: last } = row
    const said = text(row.text, { turnId, part: 'events', position: first })
    return { first, last, text: said === null ? '' : decodeColumn(said) }
  })
}

type OrphanRow = Pick<TurnRow, 'id' | 'tenant' | 'user_id' | 'owner'>

function foundRun({ id, tenant, user_id, owner }: OrphanRow): FoundRun {
  const user = user_id === null ? null : decodeColumn(user_id)
  return { turnId: decodeColumn(id), tenant: decodeColumn(tenant), user, owner }
}
