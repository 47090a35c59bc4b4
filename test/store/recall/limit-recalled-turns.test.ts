/**
 * Tests the limits of recall: of a chat that exceeds them the latest complete turns are returned,
 * beginning with the same turn for as long as possible, so that prompts keep their beginning.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { openNodeSqlite } from '../../../src/store/database/node-sqlite-engine.ts'
import type { Engine } from '../../../src/store/database/engine-interface.ts'
import { createRecallStore } from '../../../src/store/recall/sql-recall-store.ts'
import { createTurnStore } from '../../../src/store/turns/sql-turn-store.ts'
import { migrate } from '../../../src/store/database/migrate.ts'
import {
  ITEM_OVERHEAD_BYTES,
  MAX_RECALL_KEYS,
  MAX_RECALLED_BYTES,
  MAX_RECALLED_TURNS,
  STEPS_PER_LIMIT,
} from '../../../src/store/recall/recall-store-interface.ts'
import { assistant, createEnding, newId, newTurn, numberItems, user } from '../turns.ts'

let engine: Engine
let tenant: string
beforeAll(async () => {
  engine = await openNodeSqlite(':memory:')
  await migrate(engine)
})
afterAll(() => engine.close())
beforeEach(() => {
  tenant = newId()
})

const run = (...queries: readonly string[]) =>
  engine.write(queries.map((sql) => ({ name: null, sql, parameters: [] })))

const idOf = (at: number): string => `${tenant}${String(at).padStart(6, '0')}`

/** Inserts the turns from `from` to `to - 1` with `items` items each, one of them `bytes` long. */
async function insertTurns(from: number, to: number, items: number, bytes = 200): Promise<void> {
  const body = (length: string) => `'{"type":"message","role":"assistant","content":"'
    || replace(hex(zeroblob(${length})), '00', 'x') || '"}'`
  await run(
    `insert into turns (id, tenant, thread, dialect, wire, account, model, state, created_at,
      request, fingerprint)
      with recursive n(at) as (select ${from} union all select at + 1 from n where at + 1 < ${to})
      select '${tenant}' || printf('%06d', at), '${tenant}', 't', 'chat', 'w', 'a', 'm', 'complete',
      1, '{}', '${tenant}' || at from n`,
    `insert into items (turn_id, tenant, side, position, type, body)
      with recursive n(at) as (select 0 union all select at + 1 from n where at + 1 < ${items})
      select turns.id, turns.tenant, 'out', n.at, 'message',
      case n.at when 0 then ${body(String(bytes))} else ${body('9')} end
      from turns, n where turns.tenant = '${tenant}' and turns.id >= '${idOf(from)}'`,
  )
}

async function findTurnIds(turnIds: readonly string[], fingerprints: readonly string[] = []) {
  const keys = { tenant, user: null, turnIds, callIds: [], fingerprints }
  return (await createRecallStore(engine).findTurns(keys)).turns.map(({ id }) => id).toSorted()
}

const imageMessage = (image_url: string): Item => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_image', image_url }],
})

const upTo = (to: number, from = 0): readonly number[] =>
  Array.from({ length: to - from }, (_, at) => from + at)

test('findTurns returns no more bytes than the limit', async () => {
  const size = MAX_RECALLED_BYTES / STEPS_PER_LIMIT
  await insertTurns(0, 6, 1, size)
  const six = await findTurnIds(upTo(6).map(idOf))
  expect(six).toEqual(upTo(6, 3).map(idOf))
})

test('findTurns leaves out a turn that is larger than the limit, and returns the others', async () => {
  await insertTurns(0, 2, 1)
  await insertTurns(2, 3, 1, MAX_RECALLED_BYTES)
  await insertTurns(3, 5, 1)
  expect(await findTurnIds(upTo(5).map(idOf))).toEqual([0, 1, 3, 4].map(idOf))
})

test('findTurns returns at most 20,000 items, however small they are', async () => {
  const items = MAX_RECALLED_BYTES / ITEM_OVERHEAD_BYTES / STEPS_PER_LIMIT
  await insertTurns(0, 5, items, 9)
  expect(await findTurnIds(upTo(5).map(idOf))).toEqual(upTo(5, 2).map(idOf))
})

describe('stored size of a turn', () => {
  const rowsOf = async (query: string) =>
    (await engine.read([{ name: null, sql: query, parameters: [] }]))[0]

  test('closeTurn stores the size of a turn: that of all its items and media', async () => {
    const store = createTurnStore(engine)
    const image = `data:image/png;base64,${'A'.repeat(9_000)}`
    const turn = newTurn({
      tenant,
      user: null,
      input: [user('What is on it?'), imageMessage(image)],
    })
    await store.openTurn(turn)
    const before = `select bytes from turns where id = '${turn.id}'`
    expect(await rowsOf(before)).toMatchObject([{ bytes: null }])
    await store.journalItems(turn, numberItems([assistant('A')]))
    await store.closeTurn(
      createEnding(turn, { items: numberItems([assistant('A'), assistant('cat.')]) }),
    )
    const [row] = (await rowsOf(
      `select turns.bytes, sum(octet_length(items.body) + ${ITEM_OVERHEAD_BYTES}) as own, count(*) as items
       from turns join items on items.turn_id = turns.id where turns.id = '${turn.id}'`,
    )) as readonly [{ bytes: number; own: number; items: number }]
    expect(row).toMatchObject({ items: 4, bytes: row.own + 9_000 })
  })

  test('findTurns limits the total size of turns, whether their sizes are stored or computed', async () => {
    await insertTurns(0, 4, 1)
    await run(`update turns set bytes = ${MAX_RECALLED_BYTES + 1} where id = '${idOf(1)}'`)
    await run(`update turns set bytes = ${MAX_RECALLED_BYTES - 5_000} where id = '${idOf(0)}'`)
    expect(await findTurnIds(upTo(4).map(idOf))).toEqual([2, 3].map(idOf))
    await run(`update turns set bytes = 5000 where id = '${idOf(0)}'`)
    expect(await findTurnIds(upTo(4).map(idOf))).toEqual([0, 2, 3].map(idOf))
  })
})

describe('limits of findTurns in a growing chat', () => {
  const firstAt = (ids: readonly string[]): number => Number(ids[0]?.slice(-6))
  const steps = (firsts: readonly number[]) => new Set(firsts).size

  test('findTurns returns the same first turn for many requests of a chat with too many turns', async () => {
    await insertTurns(0, MAX_RECALLED_TURNS + 520, 1)
    const counts = [-2, 0, 1, 2, 3, 250, 500, 501, 502].map((more) => MAX_RECALLED_TURNS + more)
    const firsts = []
    for (const count of counts) {
      const byWords = upTo(count, 1000).map((at) => `${tenant}${at}`)
      const ids = await findTurnIds(upTo(1000).map(idOf), byWords)
      expect(ids).toEqual(upTo(count, firstAt(ids)).map(idOf))
      firsts.push(firstAt(ids))
    }
    expect(firsts).toEqual([0, 0, 500, 500, 500, 500, 500, 1000, 1000])
  })

  test('findTurns returns the same first turn for many requests of a chat with too many keys', async () => {
    await insertTurns(0, MAX_RECALL_KEYS + 520, 1)
    const counts = [-1, 0, 1, 2, 499, 500, 501].map((more) => MAX_RECALL_KEYS + more)
    const firsts = []
    for (const count of counts) firsts.push(firstAt(await findTurnIds(upTo(count).map(idOf))))
    expect(firsts).toEqual([0, 0, 500, 500, 500, 500, 1000])
  })

  test('findTurns returns the same first turn for many requests of a chat with too many bytes', async () => {
    await insertTurns(0, 60, 1, MAX_RECALLED_BYTES / 40)
    const firsts = []
    for (const count of upTo(60, 30)) firsts.push(firstAt(await findTurnIds(upTo(count).map(idOf))))
    expect(firsts.slice(0, 9).every((first) => first === 0)).toBe(true)
    expect(steps(firsts)).toBe(3)
    expect(firsts).toEqual(firsts.toSorted((one, other) => one - other))
  })
})

describe('the ids of turns that a limit excludes', () => {
  const beyond = async (turnIds: readonly string[]) => {
    const keys = { tenant, user: null, turnIds, callIds: [], fingerprints: [] }
    const { turns, excludedTurnIds: left } = await createRecallStore(engine).findTurns(keys)
    return { found: turns.map(({ id }) => id), left: [...left].toSorted() }
  }

  test('excludedTurnIds contains the turn ids of markers that were not searched', async () => {
    await insertTurns(MAX_RECALL_KEYS - 10, MAX_RECALL_KEYS + 10, 1)
    const ids = Array.from({ length: MAX_RECALL_KEYS + 10 }, (_, at) => idOf(at))
    const { found: there, left } = await beyond(ids)
    expect(there).toHaveLength(20)
    expect(left).toEqual(ids.slice(0, MAX_RECALL_KEYS / STEPS_PER_LIMIT))
  })

  test('excludedTurnIds contains turns that were found but exceed the maximum of bytes', async () => {
    await insertTurns(0, 5, 1, MAX_RECALLED_BYTES / 4)
    const ids = [0, 1, 2, 3, 4].map(idOf)
    const { found: there, left } = await beyond(ids)
    expect([...there, ...left].toSorted()).toEqual(ids)
    expect(left.length).toBeGreaterThan(0)
    expect(there.every((id) => id > (left.at(-1) ?? ''))).toBe(true)
  })

  test('excludedTurnIds is empty if nothing exceeds a limit', async () => {
    await insertTurns(0, 3, 1)
    expect((await beyond([0, 1, 2, 9].map(idOf))).left).toEqual([])
  })
})
