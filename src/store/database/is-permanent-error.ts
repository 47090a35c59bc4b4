/**
 * Recognizes errors that a database reports for the statement or its values, e.g. a missing table or a value that is too
 * large. The same statement fails again, so it is not worth another try.
 */
import { isObject } from '../../core/json/json.ts'

export function isPermanentDatabaseError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, errcode } = error as Error & { readonly code?: unknown; readonly errcode?: unknown }
  if (typeof errcode === 'number') return PERMANENT_SQLITE_CODES.has(errcode & 0xff)
  // A code of Postgres has five characters, of which the first two are its class. Its message is in the language of the
  // server.
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return PERMANENT_CLASSES.test(code)
  return PERMANENT_MESSAGE.test(error.message) || isPermanentCause(error)
}

function isPermanentCause({ cause }: Error): boolean {
  return isObject(cause) && isPermanentDatabaseError(cause)
}

/**
 * Error codes of SQLite: statement (1), value too large (18), constraint (19), type of a value (20), number of
 * parameters (25).
 */
const PERMANENT_SQLITE_CODES: ReadonlySet<number> = new Set([1, 18, 19, 20, 25])

/** Classes of Postgres: values (22), constraints (23), statements, tables and privileges (42), limits (54). */
const PERMANENT_CLASSES = /^(?:22|23|42|54)/

/** D1, and the thread that writes to a SQLite file, pass on only the message. */
const PERMANENT_MESSAGE =
  /SQLITE_(?:ERROR|TOOBIG|CONSTRAINT|MISMATCH|RANGE)\b|no such (?:table|column)|syntax error|constraint failed|datatype mismatch|too big/
