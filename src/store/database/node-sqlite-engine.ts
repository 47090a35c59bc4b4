/**
 * Engine for SQLite, with Node's built-in driver. One thread writes to the file and commits several
 * writes together. This thread reads over a second connection, so reads never wait for a commit and
 * see all committed data. A database in memory (`:memory:`) has one connection, in this thread.
 */
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { DEFAULT_CACHE_SIZES } from '../cache-sizes.ts'
import { NEEDS_REWRITE, openSqliteConnection } from './node-sqlite-connection.ts'
import type { Engine, SqlRows } from './engine-interface.ts'
import type { WriteBatch, WriterResponse, WriterRequest } from './node-sqlite-writer-thread.ts'

/** Opens `:memory:` or a file, which is created together with its folder. */
export async function openNodeSqlite(
  path: string,
  pageCacheBytes = DEFAULT_CACHE_SIZES.pages,
): Promise<Engine> {
  return path === ':memory:' ? openInMemory() : openFile(path, pageCacheBytes)
}

function openInMemory(): Engine {
  const database = openSqliteConnection(':memory:', 'write')
  return {
    language: 'sqlite',
    read: async (queries) => queries.map(database.read),
    async write(queries) {
      const [committed = []] = database.commit([queries])
      if (committed instanceof Error) throw committed
      return committed
    },
    close: async () => database.close(),
  }
}

async function openFile(path: string, pageCacheBytes: number): Promise<Engine> {
  createFolder(dirname(path))
  const writer = await startWriter(path)
  const reader = openSqliteConnection(path, 'read', pageCacheBytes)
  return {
    language: 'sqlite',
    read: async (queries) => queries.map(reader.read),
    write: writer.write,
    async eraseDeleted() {
      await writer.write([NEEDS_REWRITE])
      writer.scheduleRewrite()
    },
    async close() {
      // Closes the writer last: the last connection to close merges the write-ahead log into the
      // file, which a read-only connection cannot.
      reader.close()
      await writer.close()
    },
  }
}

/**
 * Creates a folder with its parents. (`mkdirSync` with `recursive` would never return below `/proc`, where each attempt
 * fails as if the parent were missing.)
 */
function createFolder(folder: string): void {
  if (isFolder(folder)) return
  createFolder(dirname(folder))
  try {
    mkdirSync(folder)
  } catch (cause) {
    // Another process may have created the folder since.
    if (isFolder(folder)) return
    const { code } = cause as NodeJS.ErrnoException
    throw new Error(
      `The folder ${folder} cannot be created (${code}). Create it, or name a file in a folder that this user may write to.`,
      { cause },
    )
  }
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory()
}

interface Writer {
  readonly write: Engine['write']
  readonly scheduleRewrite: () => void
  readonly close: () => Promise<void>
}

interface PendingBatch {
  readonly resolve: (rows: readonly SqlRows[]) => void
  readonly reject: (error: Error) => void
}

/** Starts the thread that writes. Resolves when that thread has opened the file. */
function startWriter(path: string): Promise<Writer> {
  const worker = new Worker(new URL('./node-sqlite-writer-thread.ts', import.meta.url), {
    workerData: path,
  })
  const pendingBatches = new Map<number, PendingBatch>()
  let lastId = 0
  let ended: Error | null = null
  const post = (message: WriterRequest): void => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- it is not a window
    if (ended === null) worker.postMessage(message)
  }
  const batches = createBatchSender(post)

  const rejectPending = (error: Error): void => {
    ended ??= error
    for (const { reject } of pendingBatches.values()) reject(ended)
    pendingBatches.clear()
  }
  const exited = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      rejectPending(new Error('The database is closed.'))
      resolve()
    })
  })
  worker.on('error', (error) =>
    rejectPending(error instanceof Error ? error : new Error(String(error))),
  )
  worker.on('message', (results: WriterResponse) => {
    for (const { id, committed } of results) {
      const batch = pendingBatches.get(id)
      pendingBatches.delete(id)
      if (committed instanceof Error) batch?.reject(committed)
      else batch?.resolve(committed)
    }
  })

  const writer: Writer = {
    write: (queries, survives = 'power-cut') =>
      new Promise((resolve, reject) => {
        if (ended !== null) return reject(ended)
        const id = ++lastId
        pendingBatches.set(id, { resolve, reject })
        batches.add({ id, queries, survives })
      }),
    scheduleRewrite: () => post('rewrite'),
    async close() {
      batches.sendAll()
      post(null)
      await exited
    },
  }
  return new Promise((resolve, reject) => {
    worker.once('message', () => resolve(writer))
    worker.once('error', reject)
  })
}

/**
 * Collects the batches that are added in one pass of the event loop and posts them together,
 * because waking the writer thread is expensive. A batch whose `survives` is `whenever` waits up to
 * 20 ms, so that it can be posted together with another batch. Posting copies the texts, so no more than some
 * megabytes are posted in one pass.
 */
function createBatchSender(post: (pending: readonly WriteBatch[]) => void) {
  let pending: WriteBatch[] = []
  let isScheduled = false
  let delayedSend: NodeJS.Timeout | null = null
  const send = (maxChars: number): void => {
    isScheduled = false
    if (delayedSend !== null) clearTimeout(delayedSend)
    delayedSend = null
    let chars = 0
    const excess = pending.findIndex((batch) => (chars += countChars(batch)) > maxChars)
    const count = excess < 0 ? pending.length : Math.max(1, excess)
    if (count > 0) post(pending.slice(0, count))
    pending = pending.slice(count)
    if (pending.length > 0) schedule()
  }
  const schedule = (): void => {
    if (!isScheduled) setImmediate(() => send(MAX_POSTED_CHARS))
    isScheduled = true
  }
  return {
    sendAll: (): void => send(Infinity),
    add(batch: WriteBatch): void {
      pending.push(batch)
      if (batch.survives !== 'whenever') schedule()
      else delayedSend ??= setTimeout(() => send(MAX_POSTED_CHARS), MAX_DELAY_MS)
    },
  }
}

function countChars({ queries }: WriteBatch): number {
  let chars = 0
  for (const { parameters } of queries) {
    for (const value of parameters) if (typeof value === 'string') chars += value.length
  }
  return chars
}

const MAX_POSTED_CHARS = 8_000_000

/** Maximum delay of a batch whose `survives` is `whenever`. */
const MAX_DELAY_MS = 20
