/** Wraps an engine and records the queries of each call. */
import type { Engine, SqlQuery } from '../../src/store/database/engine-interface.ts'

export interface RoundTrip {
  readonly verb: 'read' | 'write'
  readonly queries: readonly SqlQuery[]
}

export function recordRoundTrips(engine: Engine): {
  readonly engine: Engine
  readonly trips: RoundTrip[]
} {
  const trips: RoundTrip[] = []
  return {
    trips,
    engine: {
      ...engine,
      read(queries) {
        trips.push({ verb: 'read', queries })
        return engine.read(queries)
      },
      write(queries, survives) {
        trips.push({ verb: 'write', queries })
        return engine.write(queries, survives)
      },
    },
  }
}

/**
 * Wraps an engine so that calls which do not wait for each other run in one group. A call is held until the code has
 * nothing else to do, so the number of groups is the number of round trips that a caller waits for.
 */
export function groupRoundTrips(engine: Engine): {
  readonly engine: Engine
  readonly groups: (readonly RoundTrip[])[]
} {
  const groups: (readonly RoundTrip[])[] = []
  let held: { readonly trip: RoundTrip; readonly release: () => void }[] = []
  const releaseGroup = (): void => {
    const group = held
    held = []
    groups.push(group.map(({ trip }) => trip))
    for (const { release } of group) release()
  }
  const hold = (trip: RoundTrip): Promise<void> =>
    new Promise((release) => {
      if (held.length === 0) setTimeout(releaseGroup, GROUP_MS)
      held.push({ trip, release })
    })
  return {
    groups,
    engine: {
      ...engine,
      async read(queries) {
        await hold({ verb: 'read', queries })
        return engine.read(queries)
      },
      async write(queries, ...options) {
        await hold({ verb: 'write', queries })
        return engine.write(queries, ...options)
      },
    },
  }
}

/** Longer than code needs between two calls that do not wait for each other, and than items wait for their journal. */
const GROUP_MS = 40
