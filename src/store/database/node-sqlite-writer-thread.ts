/**
 * Runs the thread that writes to a SQLite file, so that no stream stalls while a write waits for
 * the disk. All batches that arrive during a commit share the next transaction and one write to the
 * disk.
 */
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from 'node:worker_threads'
import {
  openSqliteConnection,
  type BatchResult,
  type SqliteConnection,
} from './node-sqlite-connection.ts'
import type { SqlQuery, WriteDurability } from './engine-interface.ts'

/** A message to the writer thread: batches to commit, `erase` after a deletion, or `null` to end the thread. */
export type WriterRequest = readonly WriteBatch[] | 'erase' | null

export interface WriteBatch {
  readonly id: number
  readonly queries: readonly SqlQuery[]
  readonly survives: WriteDurability
}

/**
 * The results of batches, with their ids. The first message has no results and means that the file
 * is open.
 */
export type WriterResponse = readonly { readonly id: number; readonly committed: BatchResult }[]

/**
 * Maximum number of batches in one transaction. A longer transaction would lock the file until
 * other processes give up waiting.
 */
const MAX_GROUP_BATCHES = 256

const port = parentPort as MessagePort
const database = openSqliteConnection(workerData as string, 'write')
const erasure = createErasureSchedule(database)
erasure.schedule()
port.on('message', commitGroup)
port.postMessage([] satisfies WriterResponse)

function commitGroup(first: WriterRequest): void {
  const group: WriteBatch[] = []
  let next: WriterRequest | undefined = first
  while (next !== undefined && next !== null) {
    if (next === 'erase') erasure.schedule()
    else group.push(...next)
    next = group.length < MAX_GROUP_BATCHES ? receiveRequest() : undefined
  }
  if (group.length > 0) {
    // If one batch must survive a power cut, the complete transaction must.
    const survivesPowerCut = group.some(({ survives }) => survives === 'power-cut')
    const batches = group.map(({ queries }) => queries)
    const results = database.commit(batches, survivesPowerCut ? 'power-cut' : 'kill')
    erasure.noteCommit()
    port.postMessage(
      group.map(({ id }, index) => ({
        id,
        committed: results[index] ?? [],
      })) satisfies WriterResponse,
    )
  }
  if (next === null) {
    erasure.finish()
    database.close()
    port.close()
  }
}

/** Leases are renewed every ten seconds by default, so a gateway without requests is quiet for longer. */
const QUIET_MS = 2_000

function receiveRequest(): WriterRequest | undefined {
  return receiveMessageOnPort(port)?.message as WriterRequest | undefined
}

/**
 * Erases deleted texts one second after a deletion, so that several deletions share one erasure. Erasures take at most 5%
 * of the time, because no batch is committed meanwhile, and one of a larger file waits until nothing has been committed
 * for `QUIET_MS`. If the thread ends before a scheduled one, it erases at its end.
 */
function createErasureSchedule({ needsErasure, isErasureShort, erase }: SqliteConnection) {
  let timer: NodeJS.Timeout | null = null
  let earliestAtMs = 0
  let committedAtMs = Number.NEGATIVE_INFINITY
  const eraseWhenQuiet = (): void => {
    const remainingMs = committedAtMs + QUIET_MS - performance.now()
    if (remainingMs > 0 && !isErasureShort()) timer = setTimeout(eraseWhenQuiet, remainingMs)
    else eraseNow()
  }
  const eraseNow = (): void => {
    timer = null
    const startedAtMs = performance.now()
    try {
      erase()
    } catch {
      // The disk may be full. The file stays marked, so the next deletion or start tries again.
    }
    const endedAtMs = performance.now()
    earliestAtMs = endedAtMs + 20 * (endedAtMs - startedAtMs)
  }
  return {
    schedule(): void {
      if (!needsErasure()) return
      timer ??= setTimeout(eraseWhenQuiet, Math.max(1000, earliestAtMs - performance.now()))
    },
    noteCommit(): void {
      committedAtMs = performance.now()
    },
    finish(): void {
      if (timer === null) return
      clearTimeout(timer)
      eraseNow()
    },
  }
}
