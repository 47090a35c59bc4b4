/**
 * Preloaded into a gateway: measures the delay of its event loop and its memory. Each message of the parent
 * process is answered with the figures since the message before.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

export interface ProbeFigures {
  /** The delay of the event loop in this step: the time by which timers were late. */
  readonly maxMs: number
  /** The 99th percentile since the start of the process. */
  readonly p99Ms: number
  /** The largest heap and process in this step. */
  readonly heapMb: number
  readonly rssMb: number
}

const RESOLUTION_MS = 10
const MB = 1024 * 1024

if (isMainThread) {
  const all = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  const step = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  all.enable()
  step.enable()
  let heapMb = 0
  let rssMb = 0
  const sample = (): void => {
    const { heapUsed, rss } = process.memoryUsage()
    heapMb = Math.max(heapMb, heapUsed / MB)
    rssMb = Math.max(rssMb, rss / MB)
  }
  setInterval(sample, 100).unref()
  // The histogram records the time between two timers, which is the resolution without any delay.
  const delayMs = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS)
  process.on('message', () => {
    sample()
    const figures: ProbeFigures = {
      maxMs: delayMs(step.max),
      p99Ms: delayMs(all.percentile(99)),
      heapMb,
      rssMb,
    }
    process.send?.(figures)
    step.reset()
    heapMb = 0
    rssMb = 0
  })
  process.channel?.unref()
}
