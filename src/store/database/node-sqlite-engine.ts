/**
 * SQLite as Node brings it. A file is written by one thread that commits in groups and read here
 * over a connection of its own, so reads never wait for a commit and see whatever was committed.
 * A database in memory is one connection and runs right here.
 */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { openSqliteConnection } from './node-sqlite-connection.ts'
import type { Engine, SqlRows } from './engine-interface.ts'
import type { WriteBatch, WriterResponse, WriterRequest } from './node-sqlite-writer-thread.ts'

/** `:memory:` or the path of a file, which is created together with its folder. */
export async function openNodeSqlite(path: string): Promise<Engine> {
  return path === ':memory:' ? openInMemory() : openFile(path)
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

async function openFile(path: string): Promise<Engine> {
  mkdirSync(dirname(path), { recursive: true })
  const writer = await startWriter(path)
  const reader = openSqliteConnection(path, 'read')
  return {
    language: 'sqlite',
    read: async (queries) => queries.map(reader.read),
    write: writer.write,
    async close() {
      // Whoever closes last folds the log into the file, and a reader could not.
      reader.close()
      await writer.close()
    },
  }
}

interface Writer {
  readonly write: Engine['write']
  readonly close: () => Promise<void>
}

interface Waiting {
  readonly resolve: (rows: readonly SqlRows[]) => void
  readonly reject: (error: Error) => void
}

/** Resolves when the thread has opened the file. */
function startWriter(path: string): Promise<Writer> {
  const worker = new Worker(new URL('./node-sqlite-writer-thread.ts', import.meta.url), {
    workerData: path,
  })
  const waiting = new Map<number, Waiting>()
  let lastId = 0
  let ended: Error | null = null
  const post = (message: WriterRequest): void => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- it is not a window
    if (ended === null) worker.postMessage(message)
  }
  const batches = gathered(post)

  const end = (error: Error): void => {
    ended ??= error
    for (const { reject } of waiting.values()) reject(ended)
    waiting.clear()
  }
  const exited = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      end(new Error('The database is closed.'))
      resolve()
    })
  })
  worker.on('error', (error) => end(error instanceof Error ? error : new Error(String(error))))
  worker.on('message', (answers: WriterResponse) => {
    for (const { id, committed } of answers) {
      const batch = waiting.get(id)
      waiting.delete(id)
      if (committed instanceof Error) batch?.reject(committed)
      else batch?.resolve(committed)
    }
  })

  const writer: Writer = {
    write: (queries, survives = 'power-cut') =>
      new Promise((resolve, reject) => {
        if (ended !== null) return reject(ended)
        const id = ++lastId
        waiting.set(id, { resolve, reject })
        batches.add({ id, queries, survives })
      }),
    async close() {
      batches.send()
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
 * Waking the thread is dear: what is asked for in one turn of the loop wakes it once, and what nobody
 * waits for wakes it only if nothing else does.
 */
function gathered(post: (asked: readonly WriteBatch[]) => void) {
  let asked: WriteBatch[] = []
  let isDue = false
  let whenever: NodeJS.Timeout | null = null
  const send = (): void => {
    isDue = false
    if (whenever !== null) clearTimeout(whenever)
    whenever = null
    if (asked.length > 0) post(asked)
    asked = []
  }
  return {
    send,
    add(batch: WriteBatch): void {
      asked.push(batch)
      const mayWait = batch.survives === 'whenever'
      if (mayWait) whenever ??= setTimeout(send, WHENEVER_MS)
      else if (!isDue) setImmediate(send)
      isDue ||= !mayWait
    },
  }
}

/** How long it then waits at most. */
const WHENEVER_MS = 20
