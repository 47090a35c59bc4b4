/**
 * SQL implementation of `RunStore` for any engine. Each method takes one round trip; `openRun`
 * takes two if it inserts no turn.
 */
import { turnIdPrefixAt } from '../../core/turn-derived-ids.ts'
import { decodeColumnText, encodeColumnText } from '../database/encode-column-text.ts'
import { createConversationStatements } from '../conversations/conversation-statements.ts'
import type { Engine, SqlQuery, WriteDurability } from '../database/engine-interface.ts'
import { buildHeadMoves, writeNewTurn } from '../turns/sql-turn-store.ts'
import { encodeOwnedRowKey } from '../owner.ts'
import { encodeTurnEnding } from '../turns/encode-turn-rows.ts'
import { claimItemMemory } from '../turns/read-items-in-slices.ts'
import {
  buildEventInserts,
  buildItemInserts,
  buildOpeningInserts,
  buildOwnershipCheck,
  buildRunItemAmendments,
  encodeOwnedRun,
} from './build-run-queries.ts'
import { createLogPage, decodeRun, type OrphanRow, type RunStateRow } from './decode-run-rows.ts'
import { createReplicaAndOrphanStatements } from './replica-and-orphan-statements.ts'
import { createRunAndLogStatements } from './run-and-log-statements.ts'
import type { EventGroup, RunStore } from './run-store-interface.ts'
import { TRUSTED_CLOCK, type DatabaseClock } from '../leases/database-clock.ts'
import { LOG_RETENTION_MS } from './retention-and-orphan-times.ts'
import { decryptLongTexts, type DecryptedRow } from '../pieces/decrypt-long-texts.ts'
import { createTurnStatements } from '../turns/turn-statements.ts'
import type { ItemRow, ReplicaRow, StreamEventRow, TurnRow } from '../database/table-row-types.ts'
import { NO_ENCRYPTION, decryptRows, type RowEncryption } from '../encryption/decrypt-rows.ts'
import { NO_ITEM_TEXTS, type ItemTextCache } from '../upstream-requests/item-text-cache.ts'

export function createRunStore(
  engine: Engine,
  encryption: RowEncryption = NO_ENCRYPTION,
  texts: ItemTextCache = NO_ITEM_TEXTS,
  clock: DatabaseClock = TRUSTED_CLOCK,
): RunStore {
  const { cipher } = encryption
  const sql = createRunAndLogStatements(engine.language)
  const turns = createTurnStatements(engine.language)
  const itemSql = { insertItem: sql.insertItem, insertPiece: sql.insertPiece, media: turns.media }
  const replicas = createReplicaAndOrphanStatements(engine.language)
  const conversations = createConversationStatements(engine.language)
  /** Runs the queries and returns whether the last one returned a row, i.e. whether the replica owns the run. */
  const writeIfOwned = async (
    queries: readonly SqlQuery[],
    survives: WriteDurability,
  ): Promise<boolean> => ((await engine.write(queries, survives)).at(-1) ?? []).length > 0

  return {
    async openRun(turn, opening) {
      const log =
        opening === null ? [] : buildOpeningInserts(sql, turns.pieces, turn, opening, cipher)
      await writeNewTurn({ engine, sql: turns, cipher, texts }, turn, log)
    },
    startRun: (run) => writeIfOwned([sql.startRun(encodeOwnedRun(run))], 'kill'),
    requeueRun: (run) => writeIfOwned([sql.requeueRun(encodeOwnedRun(run))], 'kill'),
    recordRun: (run, events, items) =>
      writeIfOwned(
        [
          ...buildItemInserts(itemSql, run, items, cipher),
          ...buildOwnershipCheck(sql, run, events, cipher),
        ],
        'kill',
      ),
    async endRun(run, ending, events) {
      const log = events === null ? [] : buildEventInserts(sql, run, events, cipher)
      const rows = [
        ...buildItemInserts(itemSql, run, ending.items, cipher),
        ...buildRunItemAmendments(sql, encodeOwnedRun(run), ending, cipher),
        ...log,
      ]
      const end = sql.endRun({ ...encodeTurnEnding(ending, cipher), ...encodeOwnedRun(run) })
      const written = await engine.write([...rows, end, ...buildHeadMoves(conversations, ending)])
      return (written[rows.length] ?? []).length > 0
    },
    claimRun: (run, replicaId) =>
      writeIfOwned([sql.claimRun({ ...encodeOwnedRun(run), newOwner: replicaId })], 'kill'),
    async findOwnedRuns(replicaId, turnIds) {
      const [rows = []] = await engine.read([
        replicas.selectOwnedRuns({ replicaId, ids: turnIds.map(encodeColumnText) }),
      ])
      return new Set((rows as readonly Pick<TurnRow, 'id'>[]).map(({ id }) => decodeColumnText(id)))
    },
    async readLog(caller, turnId, fromEvent, options = {}) {
      const { claimMemory = () => undefined, undecryptable: rule = 'leave-out' } = options
      const key = { ...encodeOwnedRowKey(caller, turnId), ...clock.getExpectedTime(), fromEvent }
      // Reads the turn before its log: if the turn has ended by then, the log is complete.
      const [[state] = [], groups = []] = await engine.read([
        sql.selectRunState(key),
        sql.selectLogGroups(key),
      ])
      if (state === undefined) return null
      const textRows = (groups as readonly StreamEventRow[]).map((row) => toTextRow(key.id, row))
      claimItemMemory(countChars(textRows), 0, claimMemory)
      const { rows, failures } = await decryptLongTexts(engine, key, textRows, cipher, {
        claimMemory,
        claimsPieces: true,
      })
      const log = decryptRows(encryption, key, () => rows.map(decodeGroup), { rule, failures })
      return createLogPage(turnId, caller, state as RunStateRow, log)
    },
    async findStoredPositions(tenant, turnId) {
      const key = { id: encodeColumnText(turnId), tenant: encodeColumnText(tenant) }
      const [rows = []] = await engine.read([sql.selectOutputPositions(key)])
      return new Set((rows as readonly Pick<ItemRow, 'position'>[]).map(({ position }) => position))
    },
    async findOrphanedRuns(afterTurnId) {
      const search = { afterTurnId: encodeColumnText(afterTurnId), ...clock.getExpectedTime() }
      const [rows = []] = await engine.read([replicas.selectOrphanedRuns(search)])
      return (rows as readonly OrphanRow[]).map(decodeRun)
    },
    async renewReplica(id, leaseMs, nowMs) {
      const sentAtMs = performance.now()
      const beforeTurnId = turnIdPrefixAt(nowMs - LOG_RETENTION_MS)
      const [renewed = []] = await engine.write(
        [
          replicas.renewReplica({ id, leaseMs }),
          replicas.deleteDeadReplicas(clock.getExpectedTime()),
          replicas.deleteOldPieces({ beforeTurnId }),
          replicas.deleteOldLogs({ beforeTurnId }),
        ],
        'kill',
      )
      const [row] = renewed as readonly Pick<ReplicaRow, 'alive_until'>[]
      if (row !== undefined) clock.report(sentAtMs, row.alive_until - leaseMs)
    },
    async retireReplica(id) {
      await engine.write([replicas.retireReplica({ id })], 'kill')
    },
  }
}

/** `turnId`: the id of the turn, which the rows of its log do not contain. */
function toTextRow(turnId: string, { first_number: position, last_number, text }: StreamEventRow) {
  return { turn_id: turnId, side: 'events' as const, position, last_number, body: text }
}

function countChars(rows: readonly ReturnType<typeof toTextRow>[]): number {
  return rows.reduce((sum, { body }) => sum + body.length, 0)
}

function decodeGroup({
  position: first,
  last_number: last,
  text,
}: DecryptedRow<ReturnType<typeof toTextRow>>): EventGroup {
  return { first, last, text: text === null ? '' : decodeColumnText(text) }
}
