/**
 * Turns a Kysely query into a function that only fills in values.
 *
 * Building and compiling a query costs more than running it, so it happens once. Where a value
 * belongs, the query holds a slot that says how to read it from the input of one call.
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
  type Compilable,
  type Dialect,
  type RawBuilder,
} from 'kysely'
import type { Engine, SqlQuery, SqlValue } from './engine-interface.ts'
import type { Tables } from './table-row-types.ts'

export type CompiledStatement<Input> = (input: Input) => SqlQuery

/** Stands for the value in the query, and has its type as far as the query can see. */
export type ParameterSlot<Input> = <Type extends SqlValue>(read: (input: Input) => Type) => Type

export function compileStatement<Input>(
  name: string | null,
  build: (slot: ParameterSlot<Input>) => Compilable,
): CompiledStatement<Input> {
  const reads = new Map<unknown, (input: Input) => SqlValue>()
  const { sql, parameters } = build((read) => {
    const marker = {}
    reads.set(marker, read)
    return marker as never
  }).compile()
  const readers = parameters.map(
    (parameter) => reads.get(parameter) ?? ((): SqlValue => parameter as SqlValue),
  )
  return (input) => ({ name, sql, parameters: readers.map((read) => read(input)) })
}

/** Compiles queries that are easier to read in SQL than to build. */
export function createSqlCompiler(language: Engine['language']) {
  const db = createQueryBuilder(language)
  return <Input>(
    name: string | null,
    build: (slot: ParameterSlot<Input>) => RawBuilder<unknown>,
  ): CompiledStatement<Input> => compileStatement(name, (slot) => toCompilable(db, build(slot)))
}

/** Such a query among others that are built. */
export function toCompilable(db: Kysely<Tables>, query: RawBuilder<unknown>): Compilable {
  return { compile: () => query.compile(db) }
}

/** Builds queries in a database's language, and runs none. */
export function createQueryBuilder(language: Engine['language']): Kysely<Tables> {
  return new Kysely({ dialect: DIALECTS[language] })
}

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
