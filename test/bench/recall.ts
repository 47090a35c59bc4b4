/**
 * Measures the recall for a long chat, in milliseconds and relative to reading and parsing the same rows raw:
 * 200 turns with 1,000 stored reasoning items of 2 KB are looked up, loaded and merged into the chat.
 *
 *     node test/bench/recall.ts [turns …]
 *
 * - first: the first request of a process that has just opened the database, in a new process each time, next
 *   to a raw read in a new process. It has no goal: most of the time goes into code that runs for the first time;
 * - cold: no row of the chat was read recently, so every row is read and parsed;
 * - warm: the chat continues, and the database only returns which turns exist.
 *
 * The variants take turns, so that other load on the machine affects all of them, and the fastest time of each
 * counts, because load only adds time. The table shows the median as well.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Item } from '../../src/core/item.ts'
import { restoreForgottenItems } from '../../src/recall/restore-forgotten-items.ts'
import { splitIntoSegments } from '../../src/recall/split-and-fingerprint-segments.ts'
import { createRecallStore } from '../../src/store/recall/sql-recall-store.ts'
import { openEngine } from '../../src/store/database/open-engine.ts'
import {
  MAX_RECALLED_TURNS,
  type RecallStore,
} from '../../src/store/recall/recall-store-interface.ts'
import { createStores } from '../../src/store/create-stores.ts'
import { assistant, createEnding, newTurn, numberItems, user } from '../store/turns.ts'
import { median as middle } from './statistics.ts'

const GOALS = { coldMs: 20, warmMs: 4, ratio: 2.5 }
const ROUNDS = 41
const FIRST_ROUNDS = 9
/** A turn has a question, five reasoning items and an answer. */
const [THOUGHTS, ITEMS] = [5, 7]
const TENANT = 'bench'
const TEXT = 'x'.repeat(1900)

const [, , kind, path = '', count] = process.argv
if (kind === '--first') await printFirstTime(path, Number(count))
else if (kind === '--raw') await printRawTime(path, Number(count))
else await bench(process.argv.slice(2).map(Number))

async function bench(asked: readonly number[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'backstory-recall-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const missed: string[] = []
  for (const turns of asked.length > 0 ? asked : [200, 20, 2]) {
    missed.push(...(await measure(join(folder, `${turns}.db`), turns)))
  }
  console.log(missed.length === 0 ? 'As fast as it should be.' : `Missed: ${missed.join('; ')}.`)
  process.exitCode = missed.length === 0 ? 0 : 1
}

type Times = Readonly<Record<'first' | 'rawFirst' | 'cold' | 'warm' | 'raw', number[]>>

/** Returns the goals that were missed. */
async function measure(path: string, turns: number): Promise<readonly string[]> {
  const chat = await seed(path, turns)
  const engine = await openEngine(`sqlite:${path}`)
  const raw = openRaw(path, turns)
  const times: Times = { first: [], rawFirst: [], cold: [], warm: [], raw: [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    const stranger = createRecallStore(engine)
    times.cold.push(await measureMs(() => recallTurns(chat, stranger)))
    times.warm.push(await measureMs(() => recallTurns(chat, stranger)))
    times.raw.push(await measureMs(raw.read))
    if (round >= FIRST_ROUNDS) continue
    times.first.push(firstTime('--first', path, turns))
    times.rawFirst.push(firstTime('--raw', path, turns))
  }
  raw.close()
  await engine.close()
  return missedGoals(turns, times)
}

function missedGoals(turns: number, times: Times): readonly string[] {
  const [cold, warm] = [fastest(times.cold), fastest(times.warm)]
  const ratios = {
    cold: cold / fastest(times.raw),
    warm: warm / fastest(times.raw),
  }
  const told = (values: readonly number[]) => `${ms(fastest(values))} (${ms(median(values))})`
  console.log(`${turns} turns, the least (the middle):`)
  for (const [name, values] of Object.entries(times)) console.log(`  ${name} ${told(values)}`)
  const beside = Object.entries(ratios).map(([name, ratio]) => `${name} × ${ratio.toFixed(1)}`)
  console.log(`  beside raw: ${beside.join(', ')}`)
  if (turns !== 200) return []
  const aims: readonly (readonly [boolean, string])[] = [
    [cold <= GOALS.coldMs, `cold ${ms(cold)} of ${GOALS.coldMs}`],
    [warm <= GOALS.warmMs, `warm ${ms(warm)} of ${GOALS.warmMs}`],
    ...Object.entries(ratios).map(
      ([name, ratio]) =>
        [ratio <= GOALS.ratio, `${name} × ${ratio.toFixed(1)} of ${GOALS.ratio}`] as const,
    ),
  ]
  return aims.flatMap(([isMet, words]) => (isMet ? [] : words))
}

/** Runs a measurement in a new process. */
function firstTime(what: '--first' | '--raw', path: string, turns: number): number {
  const args = [import.meta.filename, what, path, String(turns)]
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}

async function printRawTime(path: string, turns: number): Promise<void> {
  const raw = openRaw(path, turns)
  const took = await measureMs(raw.read)
  raw.close()
  process.stdout.write(String(took))
}

/** Reads the same rows without a lookup. */
function openRaw(path: string, turns: number) {
  const database = new DatabaseSync(path, { readOnly: true })
  const rows = database.prepare('select body from items order by rowid desc limit ?')
  const items = Math.min(turns, MAX_RECALLED_TURNS) * ITEMS
  return {
    read: () => rows.all(items).map(({ body }) => JSON.parse(String(body)) as Item),
    close: () => database.close(),
  }
}

async function printFirstTime(path: string, turns: number): Promise<void> {
  const chat = chatOf(turns)
  const engine = await openEngine(`sqlite:${path}`)
  const { recall } = createStores(engine)
  const took = await measureMs(() => recallTurns(chat, recall))
  await engine.close()
  process.stdout.write(String(took))
}

/** The chat as its client sends it: text only. */
function chatOf(turns: number): readonly Item[] {
  const said = Array.from({ length: turns }, (_, at) => [
    user(`Question ${at}`),
    assistant(`Answer ${at} ${TEXT}`),
  ])
  return [...said.flat(), user('And now?')]
}

async function seed(path: string, turns: number): Promise<readonly Item[]> {
  const chat = chatOf(turns)
  const engine = await openEngine(`sqlite:${path}`)
  const { store } = createStores(engine)
  let parent: string | null = null
  let writing: Promise<unknown>[] = []
  for (const [at, { fingerprint }] of splitIntoSegments(chat).segments.entries()) {
    const input = [user(`Question ${at}`)]
    const turn = newTurn({ tenant: TENANT, user: null, parent, depth: at, dialect: 'chat', input })
    const end = createEnding(turn, { items: numberItems(answerOf(at)), fingerprint })
    writing.push(store.openTurn(turn).then(() => store.closeTurn(end)))
    parent = turn.id
    // Up to 64 turns are written in one batch.
    if (writing.length < 64) continue
    await Promise.all(writing)
    writing = []
  }
  await Promise.all(writing)
  await engine.close()
  return chat
}

function answerOf(at: number): readonly Item[] {
  const thought = (part: number): Item => ({
    type: 'reasoning',
    summary: [],
    encrypted_content: `${at}-${part} ${TEXT}`,
  })
  return [
    ...Array.from({ length: THOUGHTS }, (_, part) => thought(part)),
    assistant(`Answer ${at} ${TEXT}`),
  ]
}

async function recallTurns(chat: readonly Item[], recall: RecallStore): Promise<void> {
  const plan = splitIntoSegments(chat)
  const turns = (await recall.findTurns({ tenant: TENANT, user: null, ...plan.lookupKeys })).turns
  const { items } = restoreForgottenItems(chat, plan, turns, { replaysTools: true })
  const given = items.length - chat.length
  if (given < Math.min(chat.length >> 1, MAX_RECALLED_TURNS * 0.75) * THOUGHTS) {
    throw new Error(`Only ${given} items are given back.`)
  }
}

async function measureMs(work: () => unknown): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

function median(values: readonly number[]): number {
  return middle(values) ?? 0
}

function fastest(values: readonly number[]): number {
  return Math.min(...values)
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`
}
