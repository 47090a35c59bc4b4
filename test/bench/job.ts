/**
 * Messages between run.ts and the load process: jobs and their results. Plain data, because they are sent
 * over IPC.
 */
import type { Traffic } from './traffic.ts'

export type Job =
  /** Each connection sends its next request as soon as it has an answer. */
  | (Requests & { readonly kind: 'closed'; readonly connections: number; readonly until: Until })
  /** Sends requests at a steady rate, without waiting for earlier answers. */
  | (Requests & { readonly kind: 'open'; readonly perSecond: number; readonly forMs: number })
  /** Opens streams and keeps them open after their first byte, until `release`. */
  | (Requests & { readonly kind: 'hold'; readonly connections: number })
  | { readonly kind: 'release' }

export interface Requests {
  readonly target: Target
  readonly traffic: Traffic
  /** Null for an answer without an end. */
  readonly expected: Expected | null
}

/** When to stop sending new requests. */
export interface Until {
  readonly forMs: number
  /** A slow subject gets more time, up to `atMost`, so that one pause does not dominate the sample. */
  readonly atLeast: number
  readonly atMost: number
}

export interface Target {
  readonly port: number
  readonly headers: Readonly<Record<string, string>>
}

/** The properties that every answer must have, taken from a probe whose text was compared. */
export interface Expected {
  readonly marks: number
  readonly bytes: number
  /** The tolerated difference in `bytes`, because ids and times vary in length. */
  readonly tolerance: number
  readonly ending: string
}

export interface Tally {
  readonly answers: number
  readonly elapsedMs: number
  /** Time since the request's first byte; only of the first few thousand answers. */
  readonly firstByteMs: readonly number[]
  readonly totalMs: readonly number[]
  /** The number of wrong answers, and the error of the first. */
  readonly wrong: number
  readonly firstWrong: string | null
}
