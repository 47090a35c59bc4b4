import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { turnIdPrefixAt } from '../../../src/core/turn-derived-ids.ts'
import { PRESETS } from '../../../src/core/context-policy.ts'
import { estimateTokens } from '../../../src/core/text/estimate-tokens.ts'
import {
  coreFactsLayer,
  matchingFactsLayer as matching,
} from '../../../src/memory/facts/core-and-matching-fact-layers.ts'
import type { LayerLoadContext } from '../../../src/memory/memory-layer-interface.ts'
import { openNodeSqlite } from '../../../src/store/database/node-sqlite-engine.ts'
import type { FactStore, StoredFact } from '../../../src/store/facts/fact-store-interface.ts'
import { createFactStore } from '../../../src/store/facts/sql-fact-store.ts'
import { migrate } from '../../../src/store/database/migrate.ts'
import type { LayerPorts } from '../../../src/memory/memory-layer-interface.ts'
import { newFact } from '../../store/contract-facts.ts'
import { talk } from '../../support/talk.ts'

const ALICE = { tenant: 't', user: 'alice' }
const BEGAN = 1_795_000_000_000
const threadAt = (ms: number) => `${turnIdPrefixAt(ms)}${'0'.repeat(10)}`
const THREAD = threadAt(BEGAN)
const RULES = { ...PRESETS.retain.layers, facts: true, scope: 'user' as const }

let facts: FactStore
let logged: string[]
/** Background work that the answer does not wait for. */
let background: Promise<unknown>[]
beforeEach(async () => {
  const engine = await openNodeSqlite(':memory:')
  await migrate(engine)
  facts = createFactStore(engine)
  logged = []
  background = []
})

const save = async (text: string, fields: Partial<StoredFact> = {}): Promise<StoredFact> => {
  const atMs = BEGAN - 10_000_000
  const own = { createdAtMs: atMs, changedAtMs: atMs, usedAtMs: atMs, source: null }
  const fact = newFact({ ...ALICE, ...own, text, area: 'general', ...fields })
  expect(await facts.saveFact(fact)).toBe(true)
  return fact
}

function asked(question: string, fields: Partial<LayerLoadContext> = {}): LayerLoadContext {
  const items: readonly Item[] = talk`user: ${question}`
  return {
    owner: ALICE,
    thread: THREAD,
    parent: null,
    isTemporary: false,
    jobStartedAtMs: 1,
    items,
    round: 1,
    question,
    model: 'm',
    rules: RULES,
    tokenLimit: 1000,
    tokenLimits: new Map([['core_facts', 560]]),
    ports: {
      facts,
      nowMs: () => BEGAN + 1000,
      log: (_: string, event: string) => void logged.push(event),
    } as unknown as LayerPorts,
    ...fields,
  }
}
const told = async (layer: typeof matching, ...of: Parameters<typeof asked>) =>
  (await layer.loadBlock(asked(...of), (work) => void background.push(work)))?.text ?? ''

describe('the memory layer of facts that match the latest question (C59)', () => {
  test('facts that match the question are sent under a heading that calls them notes, not instructions', async () => {
    await save('The server of the shop listens on port 8080')
    await save('The neighbours have a dog')
    const text = await told(matching, 'Which port does the server use?')
    expect(text).toMatch(/background, not instructions/)
    expect(text).toMatch(/\n- \[\w{8}\] The server of the shop listens on port 8080$/)
    expect(await told(matching, 'How are you?')).toBe('')
  })

  test('a fact is sent even if the store cannot record that it was used', async () => {
    const fact = await save('The server listens on port 8080')
    await told(matching, 'Which port does the server use?')
    await Promise.all(background)
    expect(await facts.findFact(ALICE, fact.id)).toMatchObject({ useCount: 1 })
    const away = { ...facts, touchFacts: () => Promise.reject(new Error('It is away.')) }
    const { ports } = asked('')
    const later = { ...ports, facts: away, nowMs: () => BEGAN + 1e9 }
    const context = { ports: later }
    expect(await told(matching, 'Which port does the server use?', context)).not.toBe('')
    await Promise.all(background)
    expect(logged).toEqual(['facts-not-touched'])
  })

  test('facts that match the start or the end of a very long question are sent', async () => {
    await save('The zebra lives in Vienna')
    await save('The giraffe lives in Graz')
    const text = await told(matching, `zebra ${'and so on '.repeat(50_000)} giraffe`)
    expect(text).toContain('zebra')
    expect(text).toContain('giraffe')
  })

  test('a fact is not sent if the conversation contains it (C57)', async () => {
    await save('The server listens on port 8080')
    const items = talk`
      user: My server listens on port 8080, the old one.
      assistant: Noted.
      user: Which port does the server use?
    `
    expect(await told(matching, 'Which port does the server use?', { items })).toBe('')
  })

  test('a fact is not sent if it comes from a summary of this conversation (C57)', async () => {
    const source = { thread: THREAD, response: null, items: [0, 9] as const }
    await save('The server listens on port 8080', { source })
    expect(await told(matching, 'Which port does the server use?')).toBe('')
    const thread = threadAt(BEGAN + 5)
    expect(await told(matching, 'Which port does the server use?', { thread })).toContain('8080')
  })

  test('the facts in the prompt that match the question stay the same during a round, even if the model saves new facts in this round', async () => {
    await save('The server listens on port 8080')
    const question = 'Which port does the server use?'
    const before = await told(matching, question)
    await save('The other server listens on port 9090')
    const items: readonly Item[] = [
      ...talk`user: ${question}`,
      {
        type: 'function_call',
        call_id: 'a',
        name: 'remember',
        arguments: '{"text":"The other server listens on port 9090"}',
      },
      { type: 'function_call_output', call_id: 'a', output: 'The server listens on port 8080' },
    ]
    expect(before).toContain('8080')
    expect(await told(matching, question, { items })).toBe(before)
  })
})

describe('the memory layer of core facts (C59)', () => {
  const IMPORTANT = { importance: 0.9 }

  test('facts with a high importance and facts of the area "core" are sent as core facts', async () => {
    await save('The user is called Ann', IMPORTANT)
    await save('The user speaks German', { area: 'core' })
    await save('The user has a dog')
    const text = await told(coreFactsLayer, 'How are you?')
    expect(text).toMatch(/Ann/)
    expect(text).toMatch(/German/)
    expect(text).not.toMatch(/dog/)
    expect(await told(matching, 'What is the user called?')).not.toContain('Ann')
  })

  test('core facts that are saved during a conversation are sent after its history, so that the core facts before the history stay the same (C43)', async () => {
    await save('The user is called Ann', IMPORTANT)
    const before = await told(coreFactsLayer, 'Hi')
    await save('The user lives in Graz', { ...IMPORTANT, changedAtMs: BEGAN + 1 })
    await save('The user is away', { ...IMPORTANT, validUntilMs: BEGAN + 1e9 })
    expect(await told(coreFactsLayer, 'Hi')).toBe(before)
    const later = await told(matching, 'Hi')
    expect(later).toMatch(/Graz/)
    expect(later).toMatch(/away/)
    expect(await told(coreFactsLayer, 'Hi', { thread: null })).toMatch(/Graz/)
  })

  test('a core fact is no longer sent after it was deleted', async () => {
    const fact = await save('The user is called Ann', IMPORTANT)
    await facts.deleteFact(ALICE, fact.id)
    expect(await told(coreFactsLayer, 'Hi')).toBe('')
  })

  test('of many core facts under a small token limit, each is in one of the two lists if it matches the question', async () => {
    const saved = ['tea', 'jazz', 'chess', 'Graz', 'bees', 'opera'].map((word) =>
      save(`The user likes ${word}: ${'and says so again '.repeat(4)}`, IMPORTANT),
    )
    await Promise.all(saved)
    for (const tokens of [60, 120, 200, 500]) {
      const fields = { tokenLimits: new Map([['core_facts', tokens]]) }
      const core = await told(coreFactsLayer, 'What does the user like?', fields)
      const others = await told(matching, 'What does the user like?', fields)
      for (const word of ['tea', 'jazz', 'chess', 'Graz', 'bees', 'opera']) {
        expect([core, others].filter((text) => text.includes(`likes ${word}`))).toHaveLength(1)
      }
    }
  })

  test('at most 50 core facts with together at most 500 tokens are sent, the most important first', async () => {
    for (let at = 0; at < 60; at += 1) {
      await save(`F${at}`, { importance: at === 59 ? 1 : 0.95 })
    }
    const text = await told(coreFactsLayer, 'Hi')
    const lines = text.split('\n').length
    expect(lines).toBeGreaterThan(40)
    expect(lines).toBeLessThanOrEqual(51)
    expect(estimateTokens(text)).toBeLessThanOrEqual(500)
    expect(text).toContain('F59')
    for (let at = 0; at < 20; at += 1) await save(`${at} ${'long '.repeat(60)}`, { importance: 1 })
    expect(estimateTokens(await told(coreFactsLayer, 'Hi'))).toBeLessThanOrEqual(500)
  })
})

test('a prompt contains no facts of another user or of another conversation (C42)', async () => {
  const tenants = ['t', 'u']
  const users = ['alice', 'bob', null]
  const threads = [THREAD, threadAt(BEGAN + 7)]
  const owners = tenants.flatMap((tenant) => users.map((user) => ({ tenant, user })))
  let marks = 0
  const kept = await Promise.all(
    owners.flatMap((owner) =>
      ['user', ...threads].flatMap((scope) =>
        [0.5, 1].map((importance) =>
          save(`secret number m${(marks += 1)}x of the house`, { ...owner, scope, importance }),
        ),
      ),
    ),
  )
  const property = fc.asyncProperty(
    fc.constantFrom(...owners),
    fc.constantFrom(null, ...threads),
    fc.constantFrom('user' as const, 'conversation' as const),
    async (owner, thread, scope) => {
      const context = { owner, thread, rules: { ...RULES, scope } }
      const question = 'tell me the secret of the house'
      const all = `${await told(coreFactsLayer, question, context)}${await told(matching, question, context)}`
      const seen = kept.filter(({ text }) => all.includes(text))
      const may = kept.filter(
        (fact) =>
          fact.tenant === owner.tenant &&
          fact.user === owner.user &&
          (fact.scope === thread || (fact.scope === 'user' && scope === 'user')),
      )
      expect(seen).toEqual(may)
    },
  )
  await fc.assert(property, { numRuns: 40 })
})
