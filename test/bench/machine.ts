/**
 * Reads CPU time and memory of a process and of the machine from the kernel. CPU time covers all threads, in
 * nanoseconds if the kernel reports them, else in ticks of 10 ms. Without /proc the figures are null.
 */
import { closeSync, fdatasyncSync, openSync, readFileSync, readdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { median } from './statistics.ts'

export const hasProc = read('/proc/self/stat') !== null

export function cpuMs(pid: number): number | null {
  return cpuMsByThread(pid) ?? cpuMsByTick(pid)
}

export function residentMb(pid: number): number | null {
  const kb = /^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1]
  return kb === undefined ? null : Number(kb) / 1024
}

/** Returns the busy time of all cores since the machine started. */
export function machineBusyMs(): number | null {
  const fields = /^cpu +(.*)$/m
    .exec(read('/proc/stat') ?? '')?.[1]
    ?.split(' ')
    .map(Number)
  if (fields === undefined) return null
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = fields
  return (user + nice + system + irq + softirq + steal) * MS_PER_TICK
}

/** Returns how long the disk of `folder` takes to make a small write durable. */
export function syncMs(folder: string): number {
  const file = openSync(join(folder, 'sync'), 'w')
  const times = Array.from({ length: 21 }, () => {
    writeSync(file, 'x'.repeat(4096))
    const startedAt = performance.now()
    fdatasyncSync(file)
    return performance.now() - startedAt
  })
  closeSync(file)
  return median(times) ?? 0
}

/**
 * Sums the exact times of all threads. Threads that have ended are missing, but those of a subject do not
 * end.
 */
function cpuMsByThread(pid: number): number | null {
  let ns = 0
  for (const thread of threadsOf(pid)) {
    const text = read(`/proc/${pid}/task/${thread}/schedstat`)
    if (text === null) return null
    ns += Number(text.split(' ')[0])
  }
  return ns === 0 ? null : ns / 1e6
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

/** Sums utime and stime, in ticks of 10 ms. */
function cpuMsByTick(pid: number): number | null {
  const fields = read(`/proc/${pid}/stat`)?.split(') ').at(-1)?.split(' ')
  if (fields === undefined) return null
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK
}

const MS_PER_TICK = 10

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
