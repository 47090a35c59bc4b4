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
import type { Engine, Query, Value } from './engine-interface.ts'
import type { Tables } from './table-row-types.ts'

export type Statement<Input> = (input: Input) => Query

/** Stands for the value in the query, and has its type as far as the query can see. */
export type Slot<Input> = <Type extends Value>(read: (input: Input) => Type) => Type

export function compile<Input>(
  name: string | null,
  build: (slot: Slot<Input>) => Compilable,
): Statement<Input> {
  const reads = new Map<unknown, (input: Input) => Value>()
  const { sql, parameters } = build((read) => {
    const marker = {}
    reads.set(marker, read)
    return marker as never
  }).compile()
  const readers = parameters.map(
    (parameter) => reads.get(parameter) ?? ((): Value => parameter as Value),
  )
  return (input) => ({ name, sql, parameters: readers.map((read) => read(input)) })
}

/** Compiles queries that are easier to read in SQL than to build. */
export function sqlCompiler(language: Engine['language']) {
  const db = queryBuilder(language)
  return <Input>(
    name: string | null,
    build: (slot: Slot<Input>) => RawBuilder<unknown>,
  ): Statement<Input> => compile(name, (slot) => written(db, build(slot)))
}

/** Such a query among others that are built. */
export function written(db: Kysely<Tables>, query: RawBuilder<unknown>): Compilable {
  return { compile: () => query.compile(db) }
}

/** Builds queries in a database's language, and runs none. */
export function queryBuilder(language: Engine['language']): Kysely<Tables> {
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
