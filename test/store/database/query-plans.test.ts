/**
 * Checks the query plans of all statements that the stores compile, on filled tables, with statistics and without:
 * no statement reads all rows of a table, or all rows of a tenant, and none sorts an unlimited number of rows.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CompiledStatement } from '../../../src/store/database/compile-statement.ts'
import type { Engine, SqlQuery, SqlRows } from '../../../src/store/database/engine-interface.ts'
import { ENGINES } from '../engines.ts'
import { FILL } from './fill-tables.ts'
import { findWideSteps } from './find-wide-steps.ts'
import { BOUNDED_STEPS, UNPLANNED_FILES } from './query-plan-exceptions.ts'

const store = new URL('../../../src/store/', import.meta.url)
const files = readdirSync(store, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
)
/** Files that compile statements, except for the compiler itself. */
const compilingFiles = files.filter(
  (file) =>
    file !== 'database/compile-statement.ts' &&
    readFileSync(new URL(file, store), 'utf8').includes('createStatementCompiler('),
)

const CHATS = ['all', 'temporary']
const PAGES = ['asc', 'desc'].flatMap((order) =>
  [0, 2].flatMap((labelCount) =>
    [true, false].map((hasModel) => ({ order, labelCount, hasModel })),
  ),
)

/** The functions that compile a statement when they are called first, with the parameters to call them with. */
const COMPILED_LATER: Readonly<Record<string, readonly unknown[]>> = {
  insertItems: [2],
  insertRequests: [2],
  listTurns: PAGES,
  listItems: PAGES,
  listFacts: ['asc', 'desc'],
  unusedTurns: CHATS,
  deletableTurns: CHATS,
  deleteEventsOfUnused: CHATS,
  releaseMediaOfUnused: CHATS,
  removeUnused: CHATS,
  markUnused: CHATS,
}

type Statement = CompiledStatement<never>['statement']
type Compile = (parameter: unknown) => object
type CreateStatements = (language: Engine['language']) => object

const factories: CreateStatements[] = []
beforeAll(async () => {
  for (const file of compilingFiles) {
    const exported = (await import(new URL(file, store).href)) as Record<string, unknown>
    for (const [name, create] of Object.entries(exported)) {
      if (/^create\w*Statements$/.test(name)) factories.push(create as CreateStatements)
    }
  }
})

/** Lists the statements of an object, and calls its functions that compile a statement when they are called. */
function listStatements(name: string, member: object): readonly Statement[] {
  if ('statement' in member) return [member.statement as Statement]
  if (typeof member !== 'function') {
    return Object.entries(member).flatMap(([key, value]) => listStatements(key, value as object))
  }
  const parameters = COMPILED_LATER[name]
  if (parameters === undefined) throw new Error(`${name} is missing in COMPILED_LATER.`)
  return parameters.flatMap((parameter) => listStatements(name, (member as Compile)(parameter)))
}

test('every file that compiles statements is covered', () => {
  const covered = compilingFiles.filter((file) =>
    /export function create\w*Statements\(/.test(readFileSync(new URL(file, store), 'utf8')),
  )
  expect(compilingFiles.filter((file) => !covered.includes(file)).toSorted()).toEqual(
    Object.keys(UNPLANNED_FILES).toSorted(),
  )
  expect(
    factories.flatMap((create) => listStatements('', create('sqlite'))).length,
  ).toBeGreaterThan(150)
})

const used = new Set<string>()

describe.each(ENGINES.filter(([name]) => name === 'SQLite in memory' || name === 'Postgres'))(
  'query plans on %s',
  (_, open) => {
    let engine: Engine
    beforeAll(async () => {
      engine = await open()
      await engine.write(FILL.map(once))
    })
    afterAll(() => engine.close())

    const listWideSteps = async (): Promise<readonly string[]> => {
      const wide: string[] = []
      const statements = factories.flatMap((create) => listStatements('', create(engine.language)))
      const unique = new Map(statements.map((statement) => [statement.sql, statement]))
      for (const { name: optionalName, sql } of unique.values()) {
        const name = optionalName ?? sql
        const plan = await explain(engine, sql)
        for (const step of findWideSteps(engine.language, sql, plan)) {
          const exception = BOUNDED_STEPS.find(
            (known) => known.statement.test(name) && known.step.test(step),
          )
          if (exception === undefined) wide.push(`${name}: ${step}`)
          else used.add(exception.reason)
        }
      }
      return wide
    }

    test('no statement reads or sorts an unlimited number of rows, without statistics', async () => {
      expect(await listWideSteps()).toEqual([])
    })
    test('no statement reads or sorts an unlimited number of rows, with statistics', async () => {
      await engine.write([once('analyze')])
      expect(await listWideSteps()).toEqual([])
    })
  },
)

test('every exception is needed', () => {
  expect(BOUNDED_STEPS.filter(({ reason }) => !used.has(reason))).toEqual([])
})

/** Returns the plan for unknown parameters, which Postgres also uses after a few calls of a statement. */
async function explain(engine: Engine, sql: string): Promise<SqlRows> {
  if (engine.language === 'sqlite')
    return (await engine.read([once(`explain query plan ${sql}`)]))[0] ?? []
  const count = Math.max(0, ...[...sql.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))
  const parameters =
    count === 0 ? '' : `(${Array.from({ length: count }, () => 'null').join(', ')})`
  const [, , plan = []] = await engine.read([
    once('set plan_cache_mode = force_generic_plan'),
    once(`prepare planned as ${sql}`),
    once(`explain (format json) execute planned${parameters}`),
    once('deallocate planned'),
  ])
  return plan
}

function once(sql: string): SqlQuery {
  return { name: null, sql, parameters: [] }
}
