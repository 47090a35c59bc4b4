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

/** A message to the writer thread: batches to commit, `rewrite` after a deletion, or `null` to end the thread. */
export type WriterRequest = readonly WriteBatch[] | 'rewrite' | null

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
const rewrites = createRewriteSchedule(database)
rewrites.schedule()
port.on('message', commitGroup)
port.postMessage([] satisfies WriterResponse)

function commitGroup(first: WriterRequest): void {
  const group: WriteBatch[] = []
  let next: WriterRequest | undefined = first
  while (next !== undefined && next !== null) {
    if (next === 'rewrite') rewrites.schedule()
    else group.push(...next)
    next = group.length < MAX_GROUP_BATCHES ? receiveRequest() : undefined
  }
  if (group.length > 0) {
    // If one batch must survive a power cut, the complete transaction must.
    const survivesPowerCut = group.some(({ survives }) => survives === 'power-cut')
    const batches = group.map(({ queries }) => queries)
    const results = database.commit(batches, survivesPowerCut ? 'power-cut' : 'kill')
    rewrites.noteCommit()
    port.postMessage(
      group.map(({ id }, index) => ({
        id,
        committed: results[index] ?? [],
      })) satisfies WriterResponse,
    )
  }
  if (next === null) {
    rewrites.finish()
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
 * Rewrites the file without deleted texts one second after a deletion, so that one rewrite serves several deletions.
 * Rewrites take at most 5% of the time, because no batch is committed meanwhile. A rewrite of a larger file waits until
 * nothing has been committed for `QUIET_MS`. If the thread ends before a scheduled rewrite, it rewrites the file at its
 * end.
 */
function createRewriteSchedule({ needsRewrite, isRewriteShort, rewriteFile }: SqliteConnection) {
  let timer: NodeJS.Timeout | null = null
  let earliestAtMs = 0
  let committedAtMs = Number.NEGATIVE_INFINITY
  const rewriteWhenQuiet = (): void => {
    const remainingMs = committedAtMs + QUIET_MS - performance.now()
    if (remainingMs > 0 && !isRewriteShort()) timer = setTimeout(rewriteWhenQuiet, remainingMs)
    else rewriteNow()
  }
  const rewriteNow = (): void => {
    timer = null
    const startedAtMs = performance.now()
    try {
      rewriteFile()
    } catch {
      // The disk may be full. The file stays marked, so the next deletion or start tries again.
    }
    const endedAtMs = performance.now()
    earliestAtMs = endedAtMs + 20 * (endedAtMs - startedAtMs)
  }
  return {
    schedule(): void {
      if (!needsRewrite()) return
      timer ??= setTimeout(rewriteWhenQuiet, Math.max(1000, earliestAtMs - performance.now()))
    },
    noteCommit(): void {
      committedAtMs = performance.now()
    },
    finish(): void {
      if (timer === null) return
      clearTimeout(timer)
      rewriteNow()
    },
  }
}
