/** The run store's verbs over any engine, each of them one round trip. */
import { firstTurnIdAt } from '../conversation/ids.ts'
import { fromColumn, toColumn } from './column.ts'
import { createConversationStatements } from './conversation-statements.ts'
import type { Engine, Query, Rows, Survives } from './engine.ts'
import { insertItems, movedHead } from './kysely-store.ts'
import { originOf } from './read-rows.ts'
import { endingRow, inputRows, outputRows, turnRow } from './rows.ts'
import { createReplicaStatements } from './replica-statements.ts'
import { createRunStatements, type HoldKey, type RunStatements } from './run-statements.ts'
import {
  LOG_KEPT_HOURS,
  type EventGroup,
  type FoundRun,
  type Held,
  type Hold,
  type LogPage,
  type RunStore,
} from './run-store.ts'
import { createStatements } from './statements.ts'
import type { PlacedItem, TurnState } from './store.ts'
import type { ItemRow, ReplicaRow, StreamEventRow, TurnRow } from './tables.ts'

export function createRunStore(engine: Engine): RunStore {
  const sql = createRunStatements(engine.language)
  const turns = createStatements(engine.language)
  const replicas = createReplicaStatements(engine.language)
  const conversations = createConversationStatements(engine.language)
  /** Whether the query that was asked last returned a row. */
  const isHeld = async (queries: readonly Query[], survives: Survives): Promise<Held> =>
    ((await engine.write(queries, survives)).at(-1) ?? []).length > 0

  return {
    async openRun(turn, opening) {
      const log =
        opening === null ? [] : [sql.insertOpening(eventRow(turn.id, turn.tenant, opening))]
      const rows = [turns.insertTurn(turnRow(turn)), ...insertItems(turns, inputRows(turn))]
      await engine.write([...rows, ...log], 'kill')
    },
    startRun: (hold) => isHeld([sql.startRun(holdKey(hold))], 'kill'),
    recordRun: (hold, events, items) =>
      isHeld([...newItems(sql, hold, items), lastOf(sql, hold, events)], 'kill'),
    async endRun(hold, ending, events) {
      const log = events === null ? [] : [newEvents(sql, hold, events)]
      const rows = [...newItems(sql, hold, ending.items), ...log]
      const end = sql.endRun({ ...endingRow(ending), ...holdKey(hold) })
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
    async readLog(tenant, turnId, from) {
      const key = { id: toColumn(turnId), tenant: toColumn(tenant), from }
      // The turn before its log: when a turn is over as it is read, its log is whole by then.
      const [[head] = [], groups = []] = await engine.read([sql.logHead(key), sql.logGroups(key)])
      return head === undefined ? null : logPage(turnId, tenant, head as HeadRow, groups)
    },
    async journaledItems(tenant, turnId) {
      const key = { id: toColumn(turnId), tenant: toColumn(tenant) }
      const [rows = []] = await engine.read([sql.outPositions(key)])
      return new Set((rows as readonly Pick<ItemRow, 'position'>[]).map(({ position }) => position))
    },
    async orphanedRuns(nowMs) {
      const [rows = []] = await engine.read([replicas.orphanedRuns(nowMs)])
      return (rows as readonly HoldKey[]).map(foundRun)
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
): StreamEventRow {
  return {
    turn_id: toColumn(turnId),
    tenant: toColumn(tenant),
    first_number: first,
    last_number: last,
    text: toColumn(text),
  }
}

function newEvents(sql: RunStatements, hold: Hold, events: EventGroup): Query {
  return sql.insertEvents({ ...eventRow(hold.turnId, hold.tenant, events), ...holdKey(hold) })
}

function newItems(sql: RunStatements, hold: Hold, items: readonly PlacedItem[]): readonly Query[] {
  const key = holdKey(hold)
  return outputRows(hold.turnId, hold.tenant, items).map((row) =>
    sql.insertItem({ ...row, ...key }),
  )
}

/** The query whose row says that the run was the owner's. */
function lastOf(sql: RunStatements, hold: Hold, events: EventGroup | null): Query {
  return events === null ? sql.holdRun(holdKey(hold)) : newEvents(sql, hold, events)
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

function logPage(turnId: string, tenant: string, head: HeadRow, groups: Rows): LogPage {
  return {
    turnId,
    tenant,
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
    groups: (groups as readonly StreamEventRow[]).map(({ first_number, last_number, text }) => ({
      first: first_number,
      last: last_number,
      text: fromColumn(text),
    })),
  }
}

function foundRun({ id, tenant, owner }: HoldKey): FoundRun {
  return { turnId: fromColumn(id), tenant: fromColumn(tenant), owner }
}
