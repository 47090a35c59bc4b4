/**
 * The queue of background runs that this process owns and has not started, because too many others are in
 * progress. It holds only their ids: their requests are in the database. When a place is freed, the key
 * with the fewest runs in progress starts its oldest run, so that a long queue of one key does not delay other keys.
 */
import type { Caller } from '../../core/client/caller.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { RunLog } from '../event-log/run-event-log.ts'
import { createRunPlaces, type RunLimits, type RunPlaces } from './run-places.ts'

export interface QueuedRun extends Caller {
  readonly turnId: string
  /**
   * True for a task request of Open WebUI. This is not stored, so a process that recovers the run treats it as no task.
   */
  readonly isTask?: boolean
}

export interface RunQueue {
  /**
   * Takes a place for a new run and returns the function that frees it. Returns null if the run has to be
   * queued. Throws a GatewayError if the queue of the key is full.
   */
  readonly takePlace: (tenant: string) => (() => void) | null
  /** Adds a run, which may be stored later. The run is dropped if `whenStored` rejects. */
  readonly add: (run: QueuedRun, whenStored: Promise<unknown>) => void
  /** Removes a run that was canceled, or that could not be stored. */
  readonly remove: (run: QueuedRun) => void
  /**
   * Resolves when the run leaves the queue: to its log, or to null if it was not started. Returns null if
   * the run is not in the queue.
   */
  readonly whenStarted: (run: QueuedRun) => Promise<RunLog | null> | null
  /** Starts no further runs. Other replicas start them when the lease of this one has ended. */
  readonly close: () => void
}

interface QueueLimits extends RunLimits {
  readonly maxQueuedPerKey: number
}

export interface StartedQueuedRun {
  readonly log: RunLog
  /** Resolves when the run has ended; never rejects. */
  readonly whenOver: Promise<void>
}

/** A run that could not be started now, stays queued, and is tried again. */
export interface PostponedRun {
  readonly isPostponed: true
  /** True after an error. False if too little memory is free, which is no error however long it lasts. */
  readonly isFault: boolean
}

/** Number of errors after which a run is not postponed again. With the pauses between them, they take about two minutes. */
export const MAX_START_FAULTS = 8

interface WaitingRun {
  readonly run: QueuedRun
  readonly whenStored: Promise<unknown>
  readonly started: PromiseWithResolvers<RunLog | null>
  /** Number of errors when it was to be started. */
  faults: number
  /** True after the run was postponed. */
  isPaused: boolean
}

interface KeyQueue {
  /** By turn id. */
  readonly waiting: Map<string, WaitingRun>
  /** Number of the latest start of a run of this key, counted over all keys. */
  lastStart: number
}

/**
 * `start` resolves to null, and never rejects, if the run cannot be started any more. It may postpone the run as long as
 * `faults` is less than `MAX_START_FAULTS`.
 */
export function createRunQueue(
  limits: QueueLimits,
  start: (run: QueuedRun, faults: number) => Promise<StartedQueuedRun | PostponedRun | null>,
): RunQueue {
  const places = createRunPlaces(limits)
  const keys = new Map<string, KeyQueue>()
  const pauses = new Set<ReturnType<typeof setTimeout>>()
  let starts = 0
  let isClosed = false

  const takePlace = (tenant: string): (() => void) | null => {
    const free = places.take(tenant)
    if (free === null) return null
    return () => {
      free()
      forgetIfIdle(tenant)
      startWaitingRuns()
    }
  }
  const startWaitingRuns = (): void => {
    if (isClosed) return
    for (;;) {
      const key = chooseKey(keys, places)
      const next = key === null ? null : findOldest(key)
      const free = next === null ? null : takePlace(next.run.tenant)
      if (key === null || next === null || free === null) return
      key.lastStart = ++starts
      remove(next.run)
      void startRun(next, free)
    }
  }
  const startRun = async (waiting: WaitingRun, free: () => void): Promise<void> => {
    const { run, whenStored, started, faults } = waiting
    const result = await whenStored.then(
      () => start(run, faults),
      () => null,
    )
    if (result !== null && 'isPostponed' in result) {
      postpone(waiting, result)
      return free()
    }
    started.resolve(result?.log ?? null)
    await result?.whenOver
    free()
  }
  /** Queues a run again, so that it can be canceled, and starts it after a pause at the earliest. */
  const postpone = (waiting: WaitingRun, { isFault }: PostponedRun): void => {
    if (isFault) waiting.faults += 1
    waiting.isPaused = true
    addToKey(waiting)
    const timer = setTimeout(
      () => {
        pauses.delete(timer)
        waiting.isPaused = false
        startWaitingRuns()
      },
      isFault
        ? Math.min(FAULT_PAUSE_MS * 2 ** (waiting.faults - 1), MAX_PAUSE_MS)
        : MEMORY_PAUSE_MS,
    )
    pauses.add(timer)
    if (isClosed) stopPauses()
  }
  const stopPauses = (): void => {
    for (const timer of pauses) clearTimeout(timer)
    pauses.clear()
  }
  const addToKey = (waiting: WaitingRun): void => {
    const { tenant, turnId } = waiting.run
    // A new key comes before the key of the latest start, and after all others.
    const key = keys.get(tenant) ?? { waiting: new Map(), lastStart: starts - 0.5 }
    keys.set(tenant, key)
    key.waiting.set(turnId, waiting)
  }
  const remove = ({ tenant, turnId }: QueuedRun): void => {
    keys.get(tenant)?.waiting.delete(turnId)
    forgetIfIdle(tenant)
  }
  const forgetIfIdle = (tenant: string): void => {
    if (keys.get(tenant)?.waiting.size === 0 && places.countTaken(tenant) === 0) keys.delete(tenant)
  }
  return {
    takePlace(tenant) {
      const queued = keys.get(tenant)?.waiting.size ?? 0
      const free = queued === 0 ? takePlace(tenant) : null
      if (free === null && queued >= limits.maxQueuedPerKey)
        throw createQueueFullError(limits.maxQueuedPerKey)
      return free
    },
    add(run, whenStored) {
      if (keys.get(run.tenant)?.waiting.has(run.turnId) === true) return
      const started = Promise.withResolvers<RunLog | null>()
      addToKey({ run, whenStored, started, faults: 0, isPaused: false })
      startWaitingRuns()
    },
    remove(run) {
      keys.get(run.tenant)?.waiting.get(run.turnId)?.started.resolve(null)
      remove(run)
    },
    whenStarted: ({ tenant, turnId }) =>
      keys.get(tenant)?.waiting.get(turnId)?.started.promise ?? null,
    close() {
      isClosed = true
      stopPauses()
    },
  }
}

/** Returns the key with the fewest runs in progress; among equals, the one that has waited longest. */
function chooseKey(keys: ReadonlyMap<string, KeyQueue>, places: RunPlaces): KeyQueue | null {
  let chosen: KeyQueue | null = null
  let fewest = Infinity
  for (const [tenant, key] of keys) {
    if (!places.hasFree(tenant) || findOldest(key) === null) continue
    const taken = places.countTaken(tenant)
    if (
      taken > fewest ||
      (taken === fewest && chosen !== null && key.lastStart >= chosen.lastStart)
    )
      continue
    chosen = key
    fewest = taken
  }
  return chosen
}

/** Returns null if all runs are paused. Compares ids, which begin with the time of the turn, because runs of a dead replica are added in any order. */
function findOldest({ waiting }: KeyQueue): WaitingRun | null {
  let oldest: WaitingRun | null = null
  for (const entry of waiting.values())
    if (!entry.isPaused && (oldest === null || entry.run.turnId < oldest.run.turnId)) oldest = entry
  return oldest
}

const MEMORY_PAUSE_MS = 1_000
const FAULT_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 30_000

function createQueueFullError(limit: number): GatewayError {
  return new GatewayError(
    'rate_limit_exceeded',
    `${limit} background responses of this API key are queued, which is the maximum. Wait until some are complete, or raise BACKGROUND_QUEUE_PER_KEY.`,
    { headers: { 'retry-after': '10' } },
  )
}
