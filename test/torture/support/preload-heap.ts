/**
 * Preloaded into a gateway: each message of the parent process is answered with the memory that is in use after a
 * complete garbage collection.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

export interface LiveMemory {
  /** The heap with its buffers, without the threads of the process. */
  readonly liveMb: number
  readonly rssMb: number
}

const MB = 1024 * 1024

if (isMainThread) {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  process.on('message', () => void sendLiveMemory(collectGarbage))
  process.channel?.unref()
}

async function sendLiveMemory(collectGarbage: () => void): Promise<void> {
  // What a callback of a collection releases is collected only by the next one.
  for (let collections = 0; collections < 4; collections += 1) {
    collectGarbage()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { heapUsed, external, rss } = process.memoryUsage()
  const memory: LiveMemory = { liveMb: (heapUsed + external) / MB, rssMb: rss / MB }
  process.send?.(memory)
}
