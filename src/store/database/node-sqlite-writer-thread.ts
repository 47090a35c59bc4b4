/**
 * Runs the thread that writes to a SQLite file, so that no stream stalls while a write waits for
 * the disk. All batches that arrive during a commit share the next transaction and one write to the
 * disk.
 */
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from 'node:worker_threads'
import { openSqliteConnection, type BatchResult } from './node-sqlite-connection.ts'
import type { SqlQuery, WriteDurability } from './engine-interface.ts'

/** The batches in one message to the writer thread; the message `null` ends that thread. */
export type WriterRequest = readonly WriteBatch[] | null

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
    // If one batch must survive a power cut, the complete transaction must.
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
