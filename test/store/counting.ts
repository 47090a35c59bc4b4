/** An engine that takes down what is asked of the one behind it. */
import type { Engine, SqlQuery } from '../../src/store/database/engine-interface.ts'

export interface Trip {
  readonly verb: 'read' | 'write'
  readonly queries: readonly SqlQuery[]
}

export function counting(engine: Engine): { readonly engine: Engine; readonly trips: Trip[] } {
  const trips: Trip[] = []
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
