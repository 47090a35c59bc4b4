/** Computes the figures of a scenario from its samples, with the goal for each. */
import type { Tally } from './job.ts'
import { median, percentile } from './statistics.ts'
import type { SubjectName } from './subjects.ts'

/** One subject in one scenario and one round. */
export interface Sample {
  readonly tally: Tally
  /** CPU time of the subject, all threads; null for the upstream itself and without /proc. */
  readonly cpuMs: number | null
  readonly residentMb: number | null
  /** True if no other process kept the machine busy. */
  readonly quiet: boolean
}

export interface Figure {
  readonly label: string
  readonly unit: 'µs' | 'ms' | 'MB' | '/s'
  /** A ratio to the floor, or the difference to a direct upstream request. */
  readonly as: 'ratio' | 'added'
  /** One number, or a median and a high percentile. */
  readonly values: readonly Reading[]
  readonly targets: readonly Goal[]
}

type Reading = (samples: readonly Sample[]) => number | null

export interface Goal {
  readonly subject: SubjectName
  readonly against: SubjectName
  /** A ratio, or milliseconds for figures with `as: 'added'`. */
  readonly atMost: number
}

export function everythingOn(atMost: number): Goal {
  return { subject: 'everything', against: 'floor', atMost }
}

export function cpuPerRequest(...targets: readonly Goal[]): Figure {
  const perRequest = medianOf((sample) => {
    return sample.cpuMs === null ? null : (sample.cpuMs * 1000) / sample.tally.answers
  })
  return { label: 'CPU per request', unit: 'µs', as: 'ratio', values: [perRequest], targets }
}

export function cpuPerThousandChunks(chunks: number, ...targets: readonly Goal[]): Figure {
  const perThousand = medianOf((sample) => {
    return sample.cpuMs === null ? null : (sample.cpuMs * 1000) / (sample.tally.answers * chunks)
  })
  return { label: 'CPU per 1,000 chunks', unit: 'ms', as: 'ratio', values: [perThousand], targets }
}

export const requestsPerSecond: Figure = {
  label: 'requests per second',
  unit: '/s',
  as: 'ratio',
  values: [medianOf(({ tally }) => (tally.answers * 1000) / tally.elapsedMs)],
  targets: [],
}

export const addedTotal: Figure = {
  label: 'added, p50 / p99',
  unit: 'ms',
  as: 'added',
  values: [medianOf(({ tally }) => median(tally.totalMs)), pooled((tally) => tally.totalMs)],
  targets: [],
}

const firstByteMiddle = medianOf(({ tally }) => median(tally.firstByteMs))

export function addedFirstByte(...targets: readonly Goal[]): Figure {
  const values = [firstByteMiddle, pooled((tally) => tally.firstByteMs)]
  return { label: 'added to the first byte, p50 / p99', unit: 'ms', as: 'added', values, targets }
}

export function firstByte(...targets: readonly Goal[]): Figure {
  return { label: 'first byte, p50', unit: 'ms', as: 'ratio', values: [firstByteMiddle], targets }
}

export function residentMemory(...targets: readonly Goal[]): Figure {
  const resident = medianOf((sample) => sample.residentMb)
  return { label: 'resident memory', unit: 'MB', as: 'ratio', values: [resident], targets }
}

function medianOf(read: (sample: Sample) => number | null): Reading {
  return (samples) => median(samples.map(read).filter((value) => value !== null))
}

/** Returns the 99th percentile over all rounds together; null for fewer than 200 answers. */
function pooled(read: (tally: Tally) => readonly number[]): Reading {
  return (samples) => {
    const all = samples.flatMap(({ tally }) => read(tally))
    return all.length < ENOUGH_FOR_P99 ? null : percentile(all, 0.99)
  }
}

const ENOUGH_FOR_P99 = 200
