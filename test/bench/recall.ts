/**
 * What it costs to give a long chat its backstory, in milliseconds and against reading and parsing the
 * same rows raw: 200 turns with 1,000 remembered items of 2 KB, looked for, loaded and put in their
 * places.
 *
 *     node test/bench/recall.ts [turns …]
 *
 * - cold: the first request of a process that has just opened the database;
 * - anew: nothing of the chat was read lately, so that every row is read and parsed;
 * - warm: the chat goes on, and is asked only which of its turns there are.
 *
 * The two sides take turns, so that whatever else the machine does is done to both. Where a raw read
 * alone takes longer than there is time for everything, the ratio is what counts.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Item } from '../../src/conversation/item.ts'
import { applyRecall } from '../../src/rebuild/apply-recall.ts'
import { planRecall } from '../../src/rebuild/plan-recall.ts'
import { createRecallStore } from '../../src/store/kysely-recall-store.ts'
import { openEngine } from '../../src/store/open-store.ts'
import { MAX_RECALLED_TURNS, type RecallStore } from '../../src/store/recall-store.ts'
import { createStores } from '../../src/store/stores.ts'
import { assistant, ending, newTurn, placed, user } from '../store/turns.ts'
import { median as middle } from './statistics.ts'

const MOST = { coldMs: 20, warmMs: 4, ratio: 2.5 }
const ROUNDS = 41
/** Of a turn: a question, four thoughts and an answer. */
const ITEMS = 6
const TENANT = 'bench'
const TEXT = 'x'.repeat(1900)

const folder = mkdtempSync(join(tmpdir(), 'backstory-recall-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const asked = process.argv.slice(2).map(Number)
let isMet = true
for (const turns of asked.length > 0 ? asked : [200, 20, 2]) await measure(turns)
console.log(isMet ? 'As fast as it should be.' : 'Slower than it should be.')
process.exitCode = isMet ? 0 : 1

type Times = Readonly<Record<'anew' | 'warm' | 'raw', number[]>>

async function measure(turns: number): Promise<void> {
  const path = join(folder, `${turns}.db`)
  const chat = await seed(path, turns)
  const engine = await openEngine(`sqlite:${path}`)
  const { recall } = createStores(engine)
  const coldMs = await timed(() => recalled(chat, recall))
  const raw = new DatabaseSync(path, { readOnly: true })
  const rows = raw.prepare('select body from items order by rowid desc limit ?')
  const items = Math.min(turns, MAX_RECALLED_TURNS) * ITEMS
  const times: Times = { anew: [], warm: [], raw: [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    const stranger = createRecallStore(engine)
    times.anew.push(await timed(() => recalled(chat, stranger)))
    times.warm.push(await timed(() => recalled(chat, stranger)))
    times.raw.push(
      await timed(() => rows.all(items).map(({ body }) => JSON.parse(String(body)) as Item)),
    )
  }
  raw.close()
  await engine.close()
  tell(turns, coldMs, times)
}

function tell(turns: number, coldMs: number, times: Times): void {
  const [anew, warm, raw] = [median(times.anew), median(times.warm), median(times.raw)]
  const beside = (value: number) => `${ms(value)} (× ${(value / raw).toFixed(1)})`
  console.log(
    `${turns} turns: cold ${ms(coldMs)}, anew ${beside(anew)}, warm ${beside(warm)}, raw read and parse ${ms(raw)}`,
  )
  if (turns !== 200) return
  const isSlow = raw > MOST.warmMs / 2
  if (isSlow) console.log('  A raw read alone takes so long here that only the ratio counts.')
  isMet &&= warm / raw <= MOST.ratio && (isSlow || (coldMs <= MOST.coldMs && warm <= MOST.warmMs))
}

/** What the client sends: its text only. */
async function seed(path: string, turns: number): Promise<readonly Item[]> {
  const chat = Array.from({ length: turns }, (_, at) => [
    user(`Question ${at}`),
    assistant(`Answer ${at} ${TEXT}`),
  ]).flat()
  const engine = await openEngine(`sqlite:${path}`)
  const { store } = createStores(engine)
  let parent: string | null = null
  let writing: Promise<unknown>[] = []
  for (const [at, { fingerprint }] of planRecall(chat).runs.entries()) {
    const input = [user(`Question ${at}`)]
    const turn = newTurn({ tenant: TENANT, user: null, parent, depth: at, dialect: 'chat', input })
    const end = ending(turn, { items: placed(answerOf(at)), fingerprint })
    writing.push(store.openTurn(turn).then(() => store.closeTurn(end)))
    parent = turn.id
    // What is asked for at once is written at once.
    if (writing.length < 64) continue
    await Promise.all(writing)
    writing = []
  }
  await Promise.all(writing)
  await engine.close()
  return [...chat, user('And now?')]
}

function answerOf(at: number): readonly Item[] {
  const thought = (part: number): Item => ({
    type: 'reasoning',
    summary: [],
    encrypted_content: `${at}-${part} ${TEXT}`,
  })
  return [thought(0), thought(1), thought(2), thought(3), assistant(`Answer ${at} ${TEXT}`)]
}

async function recalled(chat: readonly Item[], recall: RecallStore): Promise<void> {
  const plan = planRecall(chat)
  const turns = (await recall.findTurns({ tenant: TENANT, user: null, ...plan.keys })).turns
  const { items } = applyRecall(chat, plan, turns, { replaysTools: true })
  const given = items.length - chat.length
  if (given < Math.min(chat.length >> 1, MAX_RECALLED_TURNS * 0.75) * 4) {
    throw new Error(`Only ${given} items are given back.`)
  }
}

async function timed(work: () => unknown): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

function median(values: readonly number[]): number {
  return middle(values) ?? 0
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`
}
