import { beforeEach, describe, expect, test } from 'vitest'
import { openNodeSqlite } from '../../../src/store/database/node-sqlite-engine.ts'
import { migrate } from '../../../src/store/database/migrate.ts'
import type { FactStore } from '../../../src/store/facts/fact-store-interface.ts'
import { createFactStore } from '../../../src/store/facts/sql-fact-store.ts'
import { saveSummaryFacts } from '../../../src/memory/facts/save-summary-facts.ts'
import { saveFact, resolveFactScope, type FactInput } from '../../../src/memory/facts/save-fact.ts'

const OWNER = { tenant: 't', user: 'alice' }

let now: number
let count: number
let facts: FactStore
let logged: string[]
beforeEach(async () => {
  const engine = await openNodeSqlite(':memory:')
  await migrate(engine)
  facts = createFactStore(engine)
  now = 1_000
  count = 0
  logged = []
})

const world = () => ({
  facts,
  nowMs: () => now,
  newTurnId: () => `${(count += 1)}`.padStart(20, '0'),
  log: (_: string, event: string) => void logged.push(event),
})
const keep = (text: string, said: Partial<FactInput> = {}, owner = OWNER) =>
  saveFact(
    {
      text,
      scope: 'user',
      area: null,
      importance: null,
      validUntilMs: null,
      source: null,
      ...said,
    },
    owner,
    world(),
  )
const all = () => facts.listFacts(OWNER, { after: null, order: 'asc', limit: 100 })

const SERVER = 'The web server of the shop in Graz listens on port 8080 since it was moved there'

describe('saving a fact in the store', () => {
  test('saveFact stores the area, the importance and the end date of a fact (C59)', async () => {
    expect(await keep('The cat is called Tom')).toMatchObject({
      ...OWNER,
      text: 'The cat is called Tom',
      area: 'general',
      importance: 0.5,
      validUntilMs: null,
    })
    const said = { area: 'pets', importance: 0.9, validUntilMs: 9_000 }
    expect(await keep('The dog is called Rex', said)).toMatchObject(said)
    expect(await all()).toHaveLength(2)
  })

  test('saveFact stores only one fact if nearly the same text is saved again (C59)', async () => {
    const first = await keep(SERVER)
    now = 5_000
    const again = await keep(SERVER.replace('8080', '9090'), { importance: 0.7 })
    expect(again).toMatchObject({ id: first.id, importance: 0.7, createdAtMs: 1_000 })
    expect(again.text).toContain('9090')
    expect(again.changedAtMs).toBe(5_000)
    expect(await all()).toStrictEqual([again])
  })

  test('saveFact keeps the stored text of a fact if a text with the same search terms is saved again', async () => {
    const first = await keep('The cat is called Tom', { area: 'pets' })
    now = 5_000
    const again = await keep('the CAT is called: Tom!')
    expect(again).toStrictEqual({ ...first, usedAtMs: 5_000 })
    const important = await keep('the CAT is called: Tom!', { importance: 1 })
    expect(important).toMatchObject({ text: first.text, importance: 1, changedAtMs: 5_000 })
  })

  test('saveFact makes an expired fact valid again if the fact is saved again', async () => {
    await keep('The shop is closed', { validUntilMs: 2_000 })
    now = 5_000
    expect(await keep('The shop is closed')).toMatchObject({
      validUntilMs: null,
      changedAtMs: 5_000,
    })
    expect(await all()).toHaveLength(1)
  })

  test('saveFact stores facts separately if their texts, their scopes or their users differ', async () => {
    await keep('The cat is called Tom')
    await keep('The dog is called Tom')
    await keep('The cat is called Tom', { scope: 'thread' })
    await keep('The cat is called Tom', {}, { tenant: 't', user: 'bob' })
    expect(await all()).toHaveLength(3)
  })

  test('saveFact stores only one fact if many requests save it at the same moment', async () => {
    const kept = await Promise.all(Array.from({ length: 6 }, () => keep('The cat is called Tom')))
    expect(new Set(kept.map(({ id }) => id)).size).toBe(1)
    expect(await all()).toHaveLength(1)
  })
})

test.each([
  ['user', 'alice', 'T', 'user'],
  ['conversation', 'alice', 'T', 'T'],
  ['conversation', 'alice', null, null],
  // Callers without a user share no facts: they may be different people.
  ['user', null, 'T', 'T'],
] as const)(
  'resolveFactScope: for the requested scope %s, the user %s and the conversation %s, a fact is stored in the scope %s (C42)',
  (wanted, user, thread, scope) => {
    expect(resolveFactScope({ tenant: 't', user }, wanted, thread)).toBe(scope)
  },
)

describe('saving the facts of a summary (C60)', () => {
  const summed = {
    owner: OWNER,
    facts: ['The server listens on port 8080', 'short', '🙂'.repeat(20), 'x '.repeat(400)],
    scope: 'user' as const,
    thread: 'T',
    jobStartedAtMs: 1,
    afterResponseId: null,
    itemCount: 12,
  }

  test('saveSummaryFacts stores each fact with the range of items that the summary replaces', async () => {
    expect(await saveSummaryFacts(summed, world())).toBe(1)
    expect(await all()).toMatchObject([
      {
        text: 'The server listens on port 8080',
        scope: 'user',
        source: { thread: 'T', response: null, items: [0, 12] },
      },
    ])
    await saveSummaryFacts(summed, world())
    expect(await all()).toHaveLength(1)
  })

  test('saveSummaryFacts stores nothing if the facts belong to a conversation that is not stored', async () => {
    const nowhere = { ...summed, scope: 'conversation' as const, thread: null }
    expect(await saveSummaryFacts(nowhere, world())).toBe(0)
    expect(await all()).toEqual([])
  })

  test('saveSummaryFacts logs a failure of the database and does not throw', async () => {
    const away = { ...facts, searchFacts: () => Promise.reject(new Error('It is away.')) }
    expect(await saveSummaryFacts(summed, { ...world(), facts: away })).toBe(0)
    expect(logged).toEqual(['facts-not-kept'])
    expect(await all()).toEqual([])
  })
})
