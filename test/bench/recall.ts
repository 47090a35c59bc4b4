/**
 * What it costs to give a long chat its backstory: 200 turns with 1,000 remembered items of 2 KB,
 * looked for, loaded and put in their places, beside reading and parsing the same rows raw. Cold is
 * the first request of a process that has just opened the database.
 * Usage: node test/bench/recall.ts [turns]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Item } from '../../src/conversation/item.ts'
import { applyRecall } from '../../src/rebuild/apply-recall.ts'
import { fingerprintOf, planRecall } from '../../src/rebuild/plan-recall.ts'
import { openEngine } from '../../src/store/open-store.ts'
import { createStores } from '../../src/store/stores.ts'
import { assistant, ending, newTurn, placed, user } from '../store/turns.ts'

const TURNS = Number(process.argv[2] ?? 200)
const TEXT = 'x'.repeat(1900)

const folder = mkdtempSync(join(tmpdir(), 'backstory-recall-'))
const path = join(folder, 'recall.db')

/** What the client sends: its text only. */
const chat: Item[] = []
const seeding = await openEngine(`sqlite:${path}`)
const stores = createStores(seeding)
const tenant = 'bench'
let parent: string | null = null
for (let at = 0; at < TURNS; at++) {
  chat.push(user(`Question ${at}`))
  const plan = planRecall(chat)
  const output = answerOf(at)
  const turn = newTurn({ tenant, user: null, parent, depth: at, dialect: 'chat', input: [] })
  await stores.store.openTurn(turn)
  const fingerprint = fingerprintOf(plan, output)
  await stores.store.closeTurn(ending(turn, { items: placed(output), fingerprint }))
  parent = turn.id
  chat.push(assistant(`Answer ${at} ${TEXT}`))
}
chat.push(user('And now?'))
await seeding.close()

const raw = new DatabaseSync(path, { readOnly: true })
const rows = raw.prepare('select body from items')
const parseAll = () => rows.all().map(({ body }) => JSON.parse(String(body)) as unknown)

const engine = await openEngine(`sqlite:${path}`)
const { recall } = createStores(engine)
const start = performance.now()
const items = await recalled()
const coldMs = performance.now() - start
const warmMs = await median(recalled)
const rawMs = await median(() => Promise.resolve(parseAll()))
console.log(
  `${TURNS} turns, ${items} items given back: cold ${coldMs.toFixed(1)} ms, warm ${warmMs.toFixed(1)} ms, raw read and parse ${rawMs.toFixed(1)} ms, ratio ${(warmMs / rawMs).toFixed(2)}`,
)
raw.close()
await engine.close()
rmSync(folder, { recursive: true })

function answerOf(at: number): readonly Item[] {
  const thought = (part: number): Item => ({
    type: 'reasoning',
    summary: [],
    encrypted_content: `${at}-${part} ${TEXT}`,
  })
  return [thought(0), thought(1), thought(2), thought(3), assistant(`Answer ${at} ${TEXT}`)]
}

async function recalled(): Promise<number> {
  const plan = planRecall(chat)
  const turns = await recall.findTurns({ tenant, user: null, ...plan.keys })
  const { items } = applyRecall(chat, plan, turns, { replaysTools: true })
  return items.length - chat.length
}

async function median(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < 21; round++) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  return times.toSorted((one, other) => one - other)[10] ?? 0
}
