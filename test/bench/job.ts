/** What run.ts tells the load process to do, and what it hears back. Plain data: it goes over IPC. */
import type { Traffic } from './traffic.ts'

export type Job =
  /** Each connection asks again as soon as it is answered. */
  | (Asking & { readonly kind: 'closed'; readonly connections: number; readonly until: Until })
  /** Asks at a steady rate, whether earlier requests are answered or not. */
  | (Asking & { readonly kind: 'open'; readonly perSecond: number; readonly forMs: number })
  /** Opens streams and keeps them open after their first byte, until the release. */
  | (Asking & { readonly kind: 'hold'; readonly connections: number })
  | { readonly kind: 'release' }

export interface Asking {
  readonly target: Target
  readonly traffic: Traffic
  /** `null` where the answer has no end. */
  readonly expected: Expected | null
}

/** When no new request is begun any more. */
export interface Until {
  readonly forMs: number
  /** A slow subject is given more time, so that a pause of its own is not all there is to see. */
  readonly atLeast: number
  readonly atMost: number
}

export interface Target {
  readonly port: number
  readonly headers: Readonly<Record<string, string>>
}

/** What every answer must look like; a probe whose text was compared says so. */
export interface Expected {
  readonly marks: number
  readonly bytes: number
  /** By how much `bytes` may differ: ids and times need not have a fixed length. */
  readonly tolerance: number
  readonly ending: string
}

export interface Tally {
  readonly answers: number
  readonly elapsedMs: number
  /** From the request's first byte; of the first few thousand answers only. */
  readonly firstByteMs: readonly number[]
  readonly totalMs: readonly number[]
  /** How many answers were wrong, and what was wrong with the first. */
  readonly wrong: number
  readonly firstWrong: string | null
}
