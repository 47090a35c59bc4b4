/**
 * Compiles an SQL template to a function that creates a query from the parameters of one call.
 *
 * Building and compiling the SQL text takes longer than running it, so both happen once per
 * process. The template contains a slot for each parameter. The slot knows how to read the value of
 * the parameter from the input of one call.
 */
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type Dialect,
  type RawBuilder,
} from 'kysely'
import type { Engine, SqlQuery, SqlValue } from './engine-interface.ts'

export interface CompiledStatement<Input> {
  (input: Input): SqlQuery
  readonly statement: Pick<SqlQuery, 'name' | 'sql'>
}

/** A part of a statement, built with Kysely's `sql` template. */
export type SqlFragment = RawBuilder<unknown>

/**
 * Marks the position of a parameter in a template, e.g. `slot('id')` or
 * `slot(({ nowMs }) => nowMs - HOUR_MS)`. The result has the type of the value, but is only a
 * marker: in each call, the compiled statement replaces the marker by the value.
 */
export interface ParameterSlot<Input> {
  <Key extends keyof Input>(key: Key): Input[Key]
  <Value extends SqlValue>(read: (input: Input) => Value): Value
}

/** Returns a compiler of SQL templates for SQLite or for Postgres. */
export function createStatementCompiler(language: Engine['language']) {
  const db = new Kysely({ dialect: DIALECTS[language] })
  return <Input>(
    name: string | null,
    build: (slot: ParameterSlot<Input>) => SqlFragment,
  ): CompiledStatement<Input> => {
    const readers = new Map<unknown, (input: Input) => SqlValue>()
    const slot = (key: keyof Input | ((input: Input) => SqlValue)): never => {
      const marker = {}
      readers.set(marker, typeof key === 'function' ? key : (input) => input[key] as SqlValue)
      return marker as never
    }
    const { sql, parameters } = build(slot).compile(db)
    const values = parameters.map(
      (parameter) => readers.get(parameter) ?? ((): SqlValue => parameter as SqlValue),
    )
    const createQuery = (input: Input): SqlQuery => ({
      name,
      sql,
      parameters: values.map((read) => read(input)),
    })
    return Object.assign(createQuery, { statement: { name, sql } })
  }
}

/** Kysely only builds and compiles statements, and never connects to a database. */
const DIALECTS: Readonly<Record<Engine['language'], Dialect>> = {
  sqlite: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
  postgres: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
}
