/**
 * The thread that writes to a SQLite file, so that waiting for the disk stalls no stream. All
 * batches that have queued up while it was busy share the next transaction, and with it one sync.
 */
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from 'node:worker_threads'
import { openSqliteConnection, type BatchResult } from './node-sqlite-connection.ts'
import type { SqlQuery, WriteDurability } from './engine-interface.ts'

/** What was asked for in one go; `null` asks the thread to end. */
export type WriterRequest = readonly WriteBatch[] | null

export interface WriteBatch {
  readonly id: number
  readonly queries: readonly SqlQuery[]
  readonly survives: WriteDurability
}

/** What became of the batches, by id. The first message, of none, says that the file is open. */
export type WriterResponse = readonly { readonly id: number; readonly committed: BatchResult }[]

/** One transaction must not hold the file for so long that other processes give up. */
const MAX_GROUP = 256

const port = parentPort as MessagePort
const database = openSqliteConnection(workerData as string, 'write')
port.on('message', work)
port.postMessage([] satisfies WriterResponse)

function work(first: WriterRequest): void {
  const group: WriteBatch[] = []
  let next: WriterRequest | undefined = first
  while (next !== undefined && next !== null) {
    group.push(...next)
    next = group.length < MAX_GROUP ? received() : undefined
  }
  if (group.length > 0) {
    // One that must survive a power cut takes the others along.
    const isForSure = group.some(({ survives }) => survives === 'power-cut')
    const batches = group.map(({ queries }) => queries)
    const results = database.commit(batches, isForSure ? 'power-cut' : 'kill')
    port.postMessage(
      group.map(({ id }, at) => ({ id, committed: results[at] ?? [] })) satisfies WriterResponse,
    )
  }
  if (next === null) {
    database.close()
    port.close()
  }
}

function received(): WriterRequest | undefined {
  return receiveMessageOnPort(port)?.message as WriterRequest | undefined
}
