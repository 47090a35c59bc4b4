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
