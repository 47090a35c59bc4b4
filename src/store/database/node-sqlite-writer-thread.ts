/**
 * Thread that writes to a SQLite file, so that waiting for the disk stalls no stream. All batches
 * that queue up during a commit share the next transaction and one sync.
 */
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from 'node:worker_threads'
import { openSqliteConnection, type BatchResult } from './node-sqlite-connection.ts'
import type { SqlQuery, WriteDurability } from './engine-interface.ts'

/** The batches of one message; `null` ends the thread. */
export type WriterRequest = readonly WriteBatch[] | null

export interface WriteBatch {
  readonly id: number
  readonly queries: readonly SqlQuery[]
  readonly survives: WriteDurability
}

/**
 * The results of the batches, by id. The first message has none and means that the file is open.
 */
export type WriterResponse = readonly { readonly id: number; readonly committed: BatchResult }[]

/**
 * Maximum number of batches in one transaction. A longer one would lock the file until other
 * processes give up.
 */
const MAX_GROUP_BATCHES = 256

const port = parentPort as MessagePort
const database = openSqliteConnection(workerData as string, 'write')
port.on('message', commitGroup)
port.postMessage([] satisfies WriterResponse)

function commitGroup(first: WriterRequest): void {
  const group: WriteBatch[] = []
  let next: WriterRequest | undefined = first
  while (next !== undefined && next !== null) {
    group.push(...next)
    next = group.length < MAX_GROUP_BATCHES ? receiveRequest() : undefined
  }
  if (group.length > 0) {
    // If one batch must survive a power cut, the transaction of all of them does.
    const survivesPowerCut = group.some(({ survives }) => survives === 'power-cut')
    const batches = group.map(({ queries }) => queries)
    const results = database.commit(batches, survivesPowerCut ? 'power-cut' : 'kill')
    port.postMessage(
      group.map(({ id }, index) => ({
        id,
        committed: results[index] ?? [],
      })) satisfies WriterResponse,
    )
  }
  if (next === null) {
    database.close()
    port.close()
  }
}

function receiveRequest(): WriterRequest | undefined {
  return receiveMessageOnPort(port)?.message as WriterRequest | undefined
}
