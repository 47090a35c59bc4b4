/**
 * Kills a gateway while it deletes a long thread. Afterwards nothing of the thread may be returned, another gateway must
 * finish the deletion, and a thread that was not deleted must stay.
 */
import { DatabaseSync } from 'node:sqlite'
import { openPostgres } from '../../../src/store/database/postgres-engine.ts'
import { turnIdOfResponse } from '../../../src/core/turn-derived-ids.ts'
import type { ChildGateway } from '../../support/child-gateway.ts'
import type { Faults } from './fault-list.ts'
import { pause } from './pause.ts'
import type { Random } from './random.ts'

export interface DeletionKill {
  readonly victim: ChildGateway
  /** Starts the gateway that continues, or returns one that is running. */
  readonly getSurvivor: () => Promise<ChildGateway>
  readonly databaseUrl: string
  readonly random: Random
  readonly faults: Faults
}

const TURNS = 3_000

export async function killDuringDeletion(kill: DeletionKill): Promise<ChildGateway> {
  const { victim, databaseUrl, random, faults } = kill
  const database = openDatabase(databaseUrl)
  try {
    const [id, other] = [await createResponse(victim), await createResponse(victim)]
    await database.run(buildClones(turnIdOfResponse(id) ?? '', databaseUrl))
    const deleting = fetch(`${victim.url}/v1/memory/turns/${id}`, { method: 'DELETE' })
    await Promise.race([
      deleting.catch(() => undefined),
      waitFor(async () => (await database.count('erasures')) > 0),
    ])
    await pause(random.below(120))
    await victim.kill('SIGKILL')
    await deleting.catch(() => undefined)
    const survivor = await kill.getSurvivor()
    const isReturned = async (name: string) =>
      (await fetch(`${survivor.url}/v1/responses/${name}`)).status === 200
    if (await isReturned(id)) faults.add('returned', `${id}, whose deletion a kill interrupted`)
    // Nobody waits for the end of the lease here.
    await database.run('update erasures set owned_until = 0')
    const isFinished = await waitFor(async () => (await database.count('erasures')) === 0)
    const left = await database.count(`turns where thread = '${turnIdOfResponse(id)}'`)
    if (!isFinished || left > 0)
      faults.add('unended', `the deletion of ${id}, of which ${left} turns are left`)
    if (!(await isReturned(other)))
      faults.add('lost', `${other}, beside a deletion that was interrupted`)
    return survivor
  } finally {
    await database.close()
  }
}

async function createResponse({ url }: ChildGateway): Promise<string> {
  const response = await fetch(`${url}/v1/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', input: 'Hello!' }),
  })
  return ((await response.json()) as { readonly id: string }).id
}

/** Builds the statement that makes a thread long: copies its only turn. */
function buildClones(turnId: string, databaseUrl: string): string {
  const numbers = databaseUrl.startsWith('sqlite:')
    ? `(with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${TURNS})
        select n from numbers) as numbers`
    : `generate_series(1, ${TURNS}) as numbers(n)`
  return `insert into turns (id, tenant, user_id, thread, parent, dialect, wire, account, model, state,
      created_at, used_at, request, depth, bytes)
    select turns.id || '-' || n, tenant, user_id, thread, turns.id, dialect, wire, account, model, state,
      created_at, used_at, request, 1, bytes from turns, ${numbers} where turns.id = '${turnId}'`
}

interface Database {
  readonly run: (sql: string) => Promise<void>
  /** Counts the rows of `from`, e.g. `turns where thread = 'A'`. */
  readonly count: (from: string) => Promise<number>
  readonly close: () => Promise<void>
}

function openDatabase(url: string): Database {
  const count = (from: string) => `select count(*) as n from ${from}`
  if (url.startsWith('sqlite:')) {
    const file = new DatabaseSync(url.slice('sqlite:'.length), { timeout: 10_000 })
    return {
      run: async (sql) => file.exec(sql),
      count: async (from) => file.prepare(count(from)).get()?.['n'] as number,
      close: async () => file.close(),
    }
  }
  const engine = openPostgres(url)
  const once = (sql: string) => ({ name: null, sql, parameters: [] })
  return {
    run: async (sql) => void (await engine.write([once(sql)])),
    async count(from) {
      const [[row] = []] = await engine.read([once(count(from))])
      return (row as { readonly n: number }).n
    },
    close: engine.close,
  }
}

async function waitFor(isTrue: () => Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + 30_000
  while (performance.now() < deadline) {
    if (await isTrue()) return true
    await pause(5)
  }
  return false
}
