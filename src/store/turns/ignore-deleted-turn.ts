/**
 * Ignores the error of a write that its turn was deleted meanwhile: a violated foreign key. The only foreign key of
 * items and of stored requests is that of their turn, and all other queries of the batch belong to the same turn.
 */
import { isObject } from '../../core/json/json.ts'
import type { SqlRows } from '../database/engine-interface.ts'

/** Returns no results if the turn was deleted. Throws any other error again. */
export function ignoreDeletedTurn(error: unknown): readonly SqlRows[] {
  const { message, cause } = error as Error
  const code = isObject(cause) ? cause['code'] : undefined
  if (code === FOREIGN_KEY_VIOLATION || /foreign key/i.test(message)) return []
  throw error
}

/**
 * The error code of Postgres. Compared instead of the message, whose language depends on the
 * server.
 */
const FOREIGN_KEY_VIOLATION = '23503'
