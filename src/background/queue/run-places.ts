/**
 * Limits how many runs are in progress in this process, for each API key and in all. A run takes a place when it
 * starts, and frees it when it ends.
 */

export interface RunLimits {
  readonly maxRuns: number
  readonly maxRunsPerKey: number
}

export interface RunPlaces {
  /** Takes a place and returns the function that frees it. Returns null if the key or the process has none. */
  readonly take: (tenant: string) => (() => void) | null
  readonly hasFree: (tenant: string) => boolean
  readonly countTaken: (tenant: string) => number
}

export function createRunPlaces({ maxRuns, maxRunsPerKey }: RunLimits): RunPlaces {
  const takenByKey = new Map<string, number>()
  let taken = 0
  const countTaken = (tenant: string): number => takenByKey.get(tenant) ?? 0
  const hasFree = (tenant: string): boolean => taken < maxRuns && countTaken(tenant) < maxRunsPerKey
  const change = (tenant: string, by: 1 | -1): void => {
    const count = countTaken(tenant) + by
    taken += by
    if (count === 0) takenByKey.delete(tenant)
    else takenByKey.set(tenant, count)
  }
  return {
    countTaken,
    hasFree,
    take(tenant) {
      if (!hasFree(tenant)) return null
      change(tenant, 1)
      return () => change(tenant, -1)
    },
  }
}

/** Prepares a run that has a place. Frees the place if that fails; otherwise, the run frees it at its end. */
export function freeIfNotPrepared<Prepared>(free: () => void, prepare: () => Prepared): Prepared {
  try {
    return prepare()
  } catch (error) {
    free()
    throw error
  }
}
