/**
 * Continues deletions of users, threads and conversations whose process has died. Their data is already hidden, so this
 * is not urgent.
 */
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { Ports } from '../dependencies-interface.ts'

export type ResumeDependencies = Ports<'deletion' | 'log'>

const INTERVAL_MS = 5_000

/** Starts the regular search for unfinished deletions. Returns a function that stops it. */
export function resumeDeletionsRegularly(ports: ResumeDependencies): () => void {
  let isStopped = false
  let timer: ReturnType<typeof setTimeout>
  let lastProblem: string | null = null
  const wait = (): void => {
    // A random factor from 0.8 to 1.2, so that replicas that start together do not search at the same time.
    timer = setTimeout(() => void run(), INTERVAL_MS * (0.8 + 0.4 * Math.random())).unref()
  }
  const run = async (): Promise<void> => {
    try {
      await resumeDeletions(ports)
      lastProblem = null
    } catch (error) {
      const why = errorMessage(error)
      // The same error is logged once, not in every interval.
      if (!isStopped && why !== lastProblem) ports.log('warn', 'deletions-not-resumed', { why })
      lastProblem = why
    }
    if (!isStopped) wait()
  }
  wait()
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}

/** Continues unfinished deletions, and resolves when they are finished. */
export async function resumeDeletions({ deletion, log }: ResumeDependencies): Promise<void> {
  const turns = await deletion.resumeDeletions()
  if (turns > 0) log('info', 'deletions-resumed', { turns })
}
