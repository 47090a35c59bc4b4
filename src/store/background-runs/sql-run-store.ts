/**
 * SQL implementation of `RunStore` for any engine. Each method takes one round trip; `openRun`
 * takes two if it inserts no turn.
 */
import { turnIdPrefixAt } from '../../core/turn-derived-ids.ts'
import { decodeColumnText, encodeColumnText } from '../database/encode-column-text.ts'
import { createConversationStatements } from '../conversations/conversation-statements.ts'
import type { Engine, SqlQuery, WriteDurability } from '../database/engine-interface.ts'
import { buildHeadMoves, writeNewTurn } from '../turns/sql-turn-store.ts'
import { buildItemAmendments } from '../turns/insert-item-queries.ts'
import { buildMediaInserts } from '../media/encode-and-restore-media-rows.ts'
import type { MediaStatements } from '../media/media-statements.ts'
import { encodeOwnedRowKey } from '../owner.ts'
import { encodeTurnEnding, encodeOutputItems } from '../turns/encode-turn-rows.ts'
import { createLogPage, decodeRun, type OrphanRow, type RunStateRow } from './decode-run-rows.ts'
import { createReplicaAndOrphanStatements } from './replica-and-orphan-statements.ts'
import {
  createRunAndLogStatements,
  type OwnedRunKey,
  type RunAndLogStatements,
} from './run-and-log-statements.ts'
import type { EventGroup, RunWithReplica, OwnedRun, RunStore } from './run-store-interface.ts'
import { TRUSTED_CLOCK, type DatabaseClock } from '../leases/database-clock.ts'
import { LOG_RETENTION_MS } from './retention-and-orphan-times.ts'
import type { StorageCipher } from '../encryption/cipher.ts'
import { cutLongText } from '../pieces/cut-long-text.ts'
import { decryptLongTexts, type DecryptedRow } from '../pieces/decrypt-long-texts.ts'
import type { TextPieceStatements } from '../pieces/text-piece-statements.ts'
import { createTurnStatements } from '../turns/turn-statements.ts'
import type { PlacedItem, TurnKey } from '../turns/turn-store-interface.ts'
import type {
  ItemRow,
  ReplicaRow,
  StreamEventRow,
  TextPieceRow,
  TurnRow,
} from '../database/table-row-types.ts'
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
        ...buildItemAmendments(turns, ending, cipher),
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
    async readLog(caller, turnId, fromEvent, rule = 'leave-out') {
      const key = { ...encodeOwnedRowKey(caller, turnId), ...clock.getExpectedTime(), fromEvent }
      // Reads the turn before its log: if the turn has ended by then, the log is complete.
      const [[state] = [], groups = []] = await engine.read([
        sql.selectRunState(key),
        sql.selectLogGroups(key),
      ])
      if (state === undefined) return null
      const { rows, failures } = await decryptLongTexts(
        engine,
        key,
        (groups as readonly StreamEventRow[]).map((row) => toTextRow(key.id, row)),
        cipher,
      )
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

function encodeOwnedRun({ turnId, tenant, replicaId }: RunWithReplica): OwnedRunKey {
  return { id: encodeColumnText(turnId), tenant: encodeColumnText(tenant), replicaId }
}

function getTurnKey({ turnId: id, tenant, user }: OwnedRun): TurnKey {
  return { id, tenant, user }
}

interface EncodedEvents {
  readonly row: StreamEventRow
  readonly pieces: readonly TextPieceRow[]
}

function encodeEvents(
  turn: TurnKey,
  { first, last, text }: EventGroup,
  cipher: StorageCipher,
): EncodedEvents {
  const { id: rowId, tenant, user } = encodeOwnedRowKey(turn, turn.id)
  const location = { tenant, user, rowId, part: 'events', position: first } as const
  const { column, pieces } = cutLongText(encodeColumnText(text), location, cipher)
  const row = { turn_id: rowId, tenant, first_number: first, last_number: last, text: column }
  return { row, pieces }
}

function buildOpeningInserts(
  sql: Pick<RunAndLogStatements, 'insertOpening'>,
  { insertPiece }: Pick<TextPieceStatements, 'insertPiece'>,
  turn: TurnKey,
  opening: EventGroup,
  cipher: StorageCipher,
): readonly SqlQuery[] {
  const { row, pieces } = encodeEvents(turn, opening, cipher)
  return [...pieces.map(insertPiece), sql.insertOpening(row)]
}

/** Builds queries of which the last returns a row only if the replica owns the run. */
function buildEventInserts(
  sql: RunAndLogStatements,
  run: OwnedRun,
  events: EventGroup,
  cipher: StorageCipher,
): readonly SqlQuery[] {
  const { row, pieces } = encodeEvents(getTurnKey(run), events, cipher)
  const key = encodeOwnedRun(run)
  return [
    ...pieces.map((piece) => sql.insertPiece({ ...piece, ...key })),
    sql.insertEvents({ ...row, ...key }),
  ]
}

function buildItemInserts(
  sql: Pick<RunAndLogStatements, 'insertItem' | 'insertPiece'> & {
    readonly media: MediaStatements
  },
  run: OwnedRun,
  items: readonly PlacedItem[],
  cipher: StorageCipher,
): readonly SqlQuery[] {
  const key = encodeOwnedRun(run)
  return encodeOutputItems(getTurnKey(run), items, cipher).flatMap(({ row, media, pieces }) => [
    ...buildMediaInserts(sql.media, { turnId: row.turn_id, tenant: row.tenant }, media, cipher),
    ...pieces.map((piece) => sql.insertPiece({ ...piece, ...key })),
    sql.insertItem({ ...row, ...key }),
  ])
}

/** Builds queries of which the last returns a row only if the replica still owns the run. */
function buildOwnershipCheck(
  sql: RunAndLogStatements,
  run: OwnedRun,
  events: EventGroup | null,
  cipher: StorageCipher,
): readonly SqlQuery[] {
  return events === null
    ? [sql.selectOwnedRun(encodeOwnedRun(run))]
    : buildEventInserts(sql, run, events, cipher)
}

/** `turnId`: the id of the turn, which the rows of its log do not contain. */
function toTextRow(turnId: string, { first_number: position, last_number, text }: StreamEventRow) {
  return { turn_id: turnId, side: 'events' as const, position, last_number, body: text }
}

function decodeGroup({
  position: first,
  last_number: last,
  text,
}: DecryptedRow<ReturnType<typeof toTextRow>>): EventGroup {
  return { first, last, text: text === null ? '' : decodeColumnText(text) }
}
