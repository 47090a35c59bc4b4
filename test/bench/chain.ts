/**
 * Measures loading a long conversation: 500 turns with 2,000 items of 2 KB, next to reading and parsing the
 * same rows raw. Usage: node test/bench/chain.ts
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Item } from '../../src/core/item.ts'
import { openTurnStore } from '../../src/store/database/open-engine.ts'
import { assistant, createEnding, nextTurn, newTurn, numberItems, user } from '../store/turns.ts'

const TURNS = 500
const TEXT = 'x'.repeat(1900)

const folder = mkdtempSync(join(tmpdir(), 'backstory-chain-'))
const path = join(folder, 'chain.db')
const store = await openTurnStore(`sqlite:${path}`)
const twice = (item: Item): readonly Item[] => [item, item]

let turn = newTurn({ input: twice(user(TEXT)) })
for (let at = 0; at < TURNS; at++) {
  if (at > 0) turn = nextTurn(turn, { depth: at, input: twice(user(`${at} ${TEXT}`)) })
  await store.openTurn(turn)
  await store.closeTurn(
    createEnding(turn, { items: numberItems(twice(assistant(`${at} ${TEXT}`))) }),
  )
}

const raw = new DatabaseSync(path, { readOnly: true })
const rows = raw.prepare('select body from items')
const chainMs = await median(() => store.loadChain(turn, turn.id))
const rawMs = await median(() => rows.all().map(({ body }) => JSON.parse(String(body)) as unknown))
console.log(
  `${TURNS} turns: ${chainMs.toFixed(1)} ms, raw read and parse ${rawMs.toFixed(1)} ms, ratio ${(chainMs / rawMs).toFixed(2)}`,
)
raw.close()
await store.close()
rmSync(folder, { recursive: true })

async function median(work: () => unknown): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < 41; round++) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  return times.toSorted((one, other) => one - other)[20] ?? 0
}
