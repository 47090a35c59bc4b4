/**
 * Wraps a local D1, which accepts more than the real one, and enforces the documented limits of D1: at most 100
 * parameters and 100 KB of text for a statement, and 2,000,000 bytes for a value or row.
 */
import type { D1Binding } from '../../src/store/database/d1-engine.ts'

const MAX_BYTES = 2_000_000
const MAX_SQL_BYTES = 100_000
const MAX_PARAMETERS = 100

export function enforceD1Limits(database: D1Binding): D1Binding {
  return {
    prepare(sql) {
      if (Buffer.byteLength(sql) > MAX_SQL_BYTES)
        throw new Error('D1_ERROR: statement too long: SQLITE_TOOBIG')
      const statement = database.prepare(sql)
      return {
        bind(...values) {
          rejectLargeValues(sql, values)
          return statement.bind(...values)
        },
      }
    },
    batch: (bound) => database.batch(bound),
  }
}

function rejectLargeValues(sql: string, values: readonly unknown[]): void {
  if (values.length > MAX_PARAMETERS)
    throw new Error('D1_ERROR: too many SQL variables: SQLITE_ERROR')
  const sizes = values.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 8))
  // The rows of `insert into t (a, b) values (?, ?), (?, ?)` have as many parameters as there are columns.
  const [, columns = ''] = /^insert into \w+ \(([^)]*)\)\s+values/i.exec(sql) ?? []
  const rowLength = columns === '' ? values.length : columns.split(',').length
  for (let from = 0; from < sizes.length; from += rowLength) {
    const bytes = sizes.slice(from, from + rowLength).reduce((sum, size) => sum + size, 0)
    if (bytes > MAX_BYTES) throw new Error('D1_ERROR: string or blob too big: SQLITE_TOOBIG')
  }
}
