/** However many turns and logs there are, no query about a run goes through all of them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Engine, Query } from '../../src/store/engine.ts'
import { createReplicaStatements } from '../../src/store/replica-statements.ts'
import { createRunStatements } from '../../src/store/run-statements.ts'
import { outputRows } from '../../src/store/rows.ts'
import { OPEN_VAULT } from '../../src/store/vault.ts'
import { ENGINES } from './engines.ts'
import { assistant, placed } from './turns.ts'

const hold = { id: 'x', tenant: 't', owner: 'r' }
const log = { id: 'x', tenant: 't', user: '', from: 7 }
const events = { turn_id: 'x', tenant: 't', first_number: 7, last_number: 8, text: '' }
const ending = {
  state: 'complete',
  wire: 'demo',
  account: 'a',
  model: 'm',
  ended_at: 1,
  usage: null,
  failure: null,
  finish: null,
  served_model: null,
  content_hash: null,
  prefix_hash: null,
  fingerprint: null,
  reasoning_refused_by: null,
}

function queriesFor(language: Engine['language']): Readonly<Record<string, Query>> {
  const runs = createRunStatements(language)
  const replicas = createReplicaStatements(language)
  const [item] = outputRows('x', 't', placed([assistant('hi')]), OPEN_VAULT.sealer)
  if (item === undefined) throw new Error('There is an item.')
  return {
    holdRun: runs.holdRun(hold),
    startRun: runs.startRun(hold),
    insertEvents: runs.insertEvents({ ...events, ...hold }),
    insertItem: runs.insertItem({ ...item, ...hold }),
    endRun: runs.endRun({ ...ending, ...hold }),
    takeRun: runs.takeRun({ ...hold, taker: 's' }),
    logHead: runs.logHead(log),
    logGroups: runs.logGroups(log),
    outPositions: runs.outPositions(log),
    heldRuns: replicas.heldRuns({ owner: 'r', ids: ['x'] }),
    orphanedRuns: replicas.orphanedRuns(1),
    forgetLogs: replicas.forgetLogs('x'),
  }
}

const NAMES = ['SQLite in memory', 'Postgres']

/**
 * A step without a condition, or with none but the tenant; unless it is over the turns that are not
 * over, which are few, and have an index of their own.
 */
function goesThroughAll(step: string, next = ''): boolean {
  if (step.includes('Scan on turns_by_state')) return false
  if (/Seq Scan|\bSCAN (?!\d+ CONSTANT)|\(tenant=\?\)/.test(step)) return true
  if (!/Index (Only )?Scan/.test(step)) return false
  return !/Index Cond: /.test(next) || /Index Cond: \(tenant = '\w+'::text\)$/.test(next)
}

describe.each(ENGINES.filter(([name]) => NAMES.includes(name)))('on %s', (name, open) => {
  let engine: Engine
  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine.close())
  const explain = name === 'Postgres' ? 'explain' : 'explain query plan'

  test.each(Object.keys(queriesFor('sqlite')))('%s follows an index', async (query) => {
    const { sql, parameters } = queriesFor(engine.language)[query] as Query
    const [plan = []] = await engine.read([{ name: null, sql: `${explain} ${sql}`, parameters }])
    const steps = plan.map((step) => Object.values(step as object).join(' '))
    expect(steps.filter((step, at) => goesThroughAll(step, steps[at + 1]))).toEqual([])
  })
})
