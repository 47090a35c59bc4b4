/**
 * Carries out an erasure, i.e. a deletion that is too long for one transaction: deletes what it covers in transactions
 * of about 20 ms each, with pauses in between. A run holds a lease on the erasure. If its process dies, another run
 * begins again, and finds only the rows that are left.
 */
import { waitWithTimeout } from '../../core/async/wait-with-timeout.ts'
import type { Engine, SqlQuery, SqlRows } from '../database/engine-interface.ts'
import {
  createMediaReleaseStatements,
  buildSweepQueries,
} from '../media/media-release-statements.ts'
import { writeAfterLock } from './deletion-locks.ts'
import { createConversationEraser } from './erase-conversation.ts'
import { USER_TABLES, type UserTable } from './erased-conditions.ts'
import {
  createErasureStatements,
  ERASURE_LEASE_MS,
  type ErasurePage,
  type ErasureRow,
  type ErasureRun,
} from './erasure-statements.ts'
import { createSliceSize, pause, type SliceSize } from './slice-size.ts'
import type { SizedTurnId, SliceWriter } from './slice-writer-interface.ts'
import { createTurnSliceBuilder, MAX_SLICE_BYTES } from './turn-slice-statements.ts'
import { createTurnChainEraser } from './erase-turn-chain.ts'

export interface ErasureRunner {
  /** Returns a new id of a run, which the statement that inserts an erasure needs. */
  readonly createRun: () => ErasureRun
  /**
   * Finishes an erasure, but resolves after `MAX_WAIT_MS` at the latest: the rest is deleted after the answer to the
   * request. `inserted` are the rows that the statement which inserts the erasure returned.
   */
  readonly finishInTime: (inserted: SqlRows, run: ErasureRun) => Promise<void>
  /**
   * Deletes everything that the erasure covers, and resolves to the number of turns that this run deleted. Waits while
   * another run does it.
   */
  readonly finish: (run: ErasureRun, onProgress?: (turns: number) => void) => Promise<number>
  /** Finishes erasures whose run has ended without finishing them. Resolves to the number of deleted turns. */
  readonly resume: () => Promise<number>
}

export function createErasureRunner(engine: Engine): ErasureRunner {
  const sql = createErasureStatements(engine.language)
  const sweep = createMediaReleaseStatements(engine.language)
  const buildSlice = createTurnSliceBuilder(engine.language)
  const eraseConversation = createConversationEraser(engine.language)
  const eraseTurnChain = createTurnChainEraser(engine.language)

  const createWriter = (run: ErasureRun, onDeleted: (turns: number) => void): SliceWriter => {
    const size = createSliceSize()
    let renewedAtMs = performance.now()
    const write = (tenant: string, queries: readonly SqlQuery[]) =>
      size.run(async () => {
        const isDue = performance.now() - renewedAtMs > ERASURE_LEASE_MS / 4
        if (isDue) renewedAtMs = performance.now()
        const all = isDue ? [...queries, sql.claim(run)] : queries
        return writeAfterLock(engine, 'deletion', tenant, all, 'kill')
      })
    return {
      engine,
      size,
      write,
      async deleteTurns(tenant, turns, lastQueries = []) {
        for (const list of splitTurns(turns, size)) {
          const turnIds = JSON.stringify(list.map(({ id }) => id))
          for (let slice = 0; slice < MAX_SLICES; slice += 1) {
            const { queries, turnsAt } = buildSlice({ turnIds, rows: size.getRows() * 4 })
            const results = await write(tenant, [...queries, ...lastQueries])
            const deletedCount = (results[turnsAt] ?? []).length
            onDeleted(deletedCount)
            if (deletedCount > 0 || (await isGone(engine, sql, turnIds))) break
          }
        }
      },
    }
  }
  const erase = async (erasure: ErasureRow, writer: SliceWriter): Promise<void> => {
    const { kind } = erasure
    if (kind === 'user') await eraseRowsOfUser(erasure, writer)
    if (kind === 'user' || kind === 'thread') await eraseTurns(erasure, writer)
    if (kind === 'conversation') await eraseConversation(erasure, writer)
    if (kind === 'turn') await eraseTurnChain(erasure, writer)
    await sweepMedia(erasure, writer)
  }
  const eraseRowsOfUser = async (erasure: ErasureRow, { size, write }: SliceWriter) => {
    for (const table of Object.keys(USER_TABLES) as readonly UserTable[]) {
      let deletedCount = 0
      let limit = 0
      do {
        limit = size.getRows()
        const page = { ...erasure, ...FIRST_PAGE, limit }
        const release = table === 'media_addresses' ? [sql.releaseFetchedOfUser(page)] : []
        const results = await write(erasure.tenant, [...release, sql.deleteOfUser[table](page)])
        deletedCount = (results.at(-1) ?? []).length
      } while (deletedCount === limit)
    }
  }
  const eraseTurns = async (erasure: ErasureRow, writer: SliceWriter): Promise<void> => {
    const select = erasure.kind === 'user' ? sql.turnsOfUser : sql.turnsOfThread
    let page: ErasurePage = { ...erasure, ...FIRST_PAGE, limit: PAGE_TURNS }
    for (;;) {
      const [rows = []] = await engine.read([select(page)])
      const turns = rows as readonly (SizedTurnId & { readonly created_at: number })[]
      await writer.deleteTurns(erasure.tenant, turns)
      const last = turns.at(-1)
      if (last === undefined || turns.length < PAGE_TURNS) return
      page = { ...page, afterMs: last.created_at, afterId: last.id }
    }
  }
  const sweepMedia = async ({ tenant }: ErasureRow, { write }: SliceWriter): Promise<void> => {
    for (let slice = 0; slice < MAX_SLICES; slice += 1) {
      const [released = []] = await write(tenant, buildSweepQueries(sweep))
      if (released.length === 0) return
    }
  }
  const createRun = (erasureId: string = crypto.randomUUID()): ErasureRun => ({
    erasureId,
    runId: crypto.randomUUID(),
  })
  const finish: ErasureRunner['finish'] = async (run, onProgress = () => undefined) => {
    let turns = 0
    const onDeleted = (count: number): void => {
      turns += count
      onProgress(turns)
    }
    let waitMs = MIN_WAIT_MS
    for (;;) {
      const [[row] = [], existing = []] = await engine.write(
        [sql.claim(run), sql.exists(run)],
        'kill',
      )
      if (existing.length === 0) return turns
      if (row === undefined) {
        await pause(waitMs)
        waitMs = Math.min(2 * waitMs, MAX_WAIT_FOR_OTHER_MS)
        continue
      }
      const erasure = row as ErasureRow
      await erase(erasure, createWriter(run, onDeleted))
      const [ended = []] = await engine.write([sql.end(erasure)])
      if (ended.length > 0 && (erasure.kind === 'user' || erasure.kind === 'thread'))
        await engine.eraseDeleted?.()
    }
  }
  return {
    createRun: () => createRun(),
    finish,
    async finishInTime([row], { runId }) {
      if (row === undefined) return
      // If the database fails, another run continues later.
      const finished = finish({ erasureId: (row as ErasureRow).id, runId }).catch(() => 0)
      await waitWithTimeout(finished, MAX_WAIT_MS)
    },
    async resume() {
      const [rows = []] = await engine.read([sql.selectOwnerless(null)])
      let turns = 0
      for (const { id } of rows as readonly Pick<ErasureRow, 'id'>[]) {
        const run = createRun(id)
        const [claimed = []] = await engine.write([sql.claim(run)], 'kill')
        // Another process may have claimed it meanwhile.
        if (claimed.length > 0) turns += await finish(run)
      }
      return turns
    },
  }
}

const FIRST_PAGE = { afterMs: -1, afterId: '' }
const PAGE_TURNS = 500
/** Maximum number of transactions for one list of turns. The largest turns take some thousands. */
const MAX_SLICES = 100_000
/** The longest time that the deletion of one response or conversation waits until its rows are deleted. */
const MAX_WAIT_MS = 250
/**
 * The interval at which a run checks whether another one has finished the erasure. It grows from the first value to the
 * second.
 */
const [MIN_WAIT_MS, MAX_WAIT_FOR_OTHER_MS] = [50, 2_000]

async function isGone(
  engine: Engine,
  sql: ReturnType<typeof createErasureStatements>,
  turnIds: string,
): Promise<boolean> {
  const [rows = []] = await engine.read([sql.selectExisting({ turnIds })])
  return rows.length === 0
}

/**
 * Splits turns into lists that one transaction can probably delete. Reads the current limit of rows before each list.
 */
export function* splitTurns(
  turns: readonly SizedTurnId[],
  size: SliceSize,
): Generator<readonly SizedTurnId[]> {
  let list: SizedTurnId[] = []
  let bytes = 0
  for (const turn of turns) {
    const isFull = list.length >= size.getRows() || bytes + turn.bytes > MAX_SLICE_BYTES
    if (list.length > 0 && isFull) {
      yield list
      ;[list, bytes] = [[], 0]
    }
    list.push(turn)
    bytes += turn.bytes
  }
  if (list.length > 0) yield list
}
