/**
 * Wraps an engine so that each of its failures is a `DatabaseError`. A request that fails with one
 * gets status 503 and may be repeated, unless the failure is permanent. Any other error is a mistake of the gateway.
 */
import { DatabaseError } from '../../core/errors/database-error.ts'
import { isPermanentDatabaseError } from './is-permanent-error.ts'
import type { Engine } from './engine-interface.ts'

export function reportDatabaseErrors(engine: Engine): Engine {
  return {
    ...engine,
    read: (queries) => engine.read(queries).catch(throwDatabaseError),
    write: (...request) => engine.write(...request).catch(throwDatabaseError),
  }
}

function throwDatabaseError(cause: unknown): never {
  throw new DatabaseError(cause, isPermanentDatabaseError(cause))
}
