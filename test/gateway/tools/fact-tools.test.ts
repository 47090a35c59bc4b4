/** The gateway tools `remember` and `forget`, on a real database. */
import { beforeEach, describe, expect, test } from 'vitest'
import { resolvePolicy, type PolicyOverrides } from '../../../src/core/context-policy.ts'
import { forgetFactTool } from '../../../src/gateway/tools/forget-fact-tool.ts'
import type {
  ToolOfferContext,
  ToolRunContext,
} from '../../../src/gateway/tools/gateway-tool-interface.ts'
import { rememberFactTool } from '../../../src/gateway/tools/remember-fact-tool.ts'
import { openNodeSqlite } from '../../../src/store/database/node-sqlite-engine.ts'
import type { FactStore } from '../../../src/store/facts/fact-store-interface.ts'
import { createFactStore } from '../../../src/store/facts/sql-fact-store.ts'
import { migrate } from '../../../src/store/database/migrate.ts'
import type { LayerPorts } from '../../../src/memory/memory-layer-interface.ts'

const ALICE = { tenant: 't', user: 'alice' }
const FACTS_POLICY: PolicyOverrides = { layers: { facts: true, scope: 'user' } }
const NOW = 1_795_000_000_000
const MEMORY = { thread: 'T', parent: null, isTemporary: false, jobStartedAtMs: 1 }

let facts: FactStore
let count: number
beforeEach(async () => {
  const engine = await openNodeSqlite(':memory:')
  await migrate(engine)
  facts = createFactStore(engine)
  count = 0
})

function context(fields: Partial<ToolRunContext> = {}): ToolRunContext {
  const newTurnId = () => `${(count += 1)}`.padStart(20, '0')
  return {
    policy: resolvePolicy([FACTS_POLICY]),
    items: [],
    readableItems: [],
    caller: ALICE,
    ports: { facts, newTurnId, nowMs: () => NOW } as unknown as LayerPorts,
    memoryThread: MEMORY,
    ...fields,
  }
}
const all = () => facts.listFacts(ALICE, { after: null, order: 'asc', limit: 100 })
const CAT = 'The cat is called Tom'

describe('the gateway tool `remember`', () => {
  test('remember stores a fact and returns the handle that forget accepts', async () => {
    const args = { text: `  ${CAT} `, area: 'pets', importance: 0.7, days: 7 }
    expect(await rememberFactTool.run(args, context())).toBe('Kept as [00000001].')
    expect(await all()).toMatchObject([
      {
        ...ALICE,
        text: CAT,
        area: 'pets',
        importance: 0.7,
        scope: 'user',
        validUntilMs: NOW + 7 * 24 * 60 * 60 * 1000,
        source: { thread: 'T', response: null, items: null },
      },
    ])
  })

  test('remember stores a fact for the conversation if the policy says so or the user is unknown', async () => {
    const conversationPolicy = resolvePolicy([FACTS_POLICY, { layers: { scope: 'conversation' } }])
    await rememberFactTool.run({ text: CAT }, context({ policy: conversationPolicy }))
    expect(await all()).toMatchObject([{ scope: 'T' }])
    const unknownUser = { tenant: 't', user: null }
    await rememberFactTool.run({ text: CAT }, context({ caller: unknownUser }))
    const listed = await facts.listFacts(unknownUser, { after: null, order: 'asc', limit: 9 })
    expect(listed).toMatchObject([{ scope: 'T' }])
  })

  test.each([
    [{}, /`text` must be a string/],
    [{ text: 7 }, /`text` must be a string/],
    [{ text: 'too short' }, /10 to 500 characters, and has 9/],
    [{ text: 'x'.repeat(501) }, /10 to 500 characters, and has 501/],
    [{ text: '🙂'.repeat(20) }, /no words/],
    [{ text: CAT, area: 'x'.repeat(65) }, /`area` must be/],
    [{ text: CAT, area: 1 }, /`area` must be/],
    [{ text: CAT, importance: 2 }, /`importance` must be/],
    [{ text: CAT, importance: '1' }, /`importance` must be/],
    [{ text: CAT, days: -1 }, /`days` must be/],
    [{ text: CAT, days: 1e9 }, /`days` must be/],
  ])('remember rejects the arguments %j with the reason', async (args, reason) => {
    expect(await rememberFactTool.run(args, context())).toMatch(reason)
    expect(await all()).toEqual([])
  })

  test('remember stores nothing for a temporary chat, or if neither the conversation nor the user is known', async () => {
    const temporary = context({ memoryThread: { ...MEMORY, isTemporary: true, jobStartedAtMs: 1 } })
    expect(await rememberFactTool.run({ text: CAT }, temporary)).toMatch(/temporary/)
    const withoutScope = context({
      caller: { tenant: 't', user: null },
      memoryThread: { ...MEMORY, thread: null },
    })
    expect(await rememberFactTool.run({ text: CAT }, withoutScope)).toMatch(/Nothing can be kept/)
    expect(await all()).toEqual([])
  })
})

describe('the gateway tool `forget`', () => {
  test.each(['[00000001]', '00000001', 'fact_00000000000000000001'])(
    'forget deletes the fact with the id %s',
    async (id) => {
      await rememberFactTool.run({ text: CAT }, context())
      expect(await forgetFactTool.run({ id }, context())).toBe('Forgotten: [00000001].')
      expect(await all()).toEqual([])
    },
  )

  test.each([[7], ['%%%%%%%%'], ['00000009'], ['1'], ['']])(
    'forget rejects the unknown id %j',
    async (id) => {
      await rememberFactTool.run({ text: CAT }, context())
      expect(await forgetFactTool.run({ id }, context())).toMatch(
        /There is no note|must be a string/,
      )
      expect(await all()).toHaveLength(1)
    },
  )

  test('C42: forget does not delete a fact of another user or another conversation', async () => {
    await rememberFactTool.run({ text: CAT }, context())
    const bob = context({ caller: { tenant: 't', user: 'bob' } })
    expect(await forgetFactTool.run({ id: '00000001' }, bob)).toMatch(/no note/)
    const conversationPolicy = resolvePolicy([FACTS_POLICY, { layers: { scope: 'conversation' } }])
    expect(
      await forgetFactTool.run({ id: '00000001' }, context({ policy: conversationPolicy })),
    ).toMatch(/no note/)
    expect(await all()).toHaveLength(1)
  })
})

test('remember and forget are offered only if the policy has facts and memory may be stored', () => {
  const offerContext = (overrides: PolicyOverrides, mayStore: boolean) =>
    ({ policy: resolvePolicy([overrides]), mayStore }) as unknown as ToolOfferContext
  for (const tool of [rememberFactTool, forgetFactTool]) {
    expect(tool.isOffered(offerContext(FACTS_POLICY, true))).toBe(true)
    expect(tool.isOffered(offerContext(FACTS_POLICY, false))).toBe(false)
    expect(tool.isOffered(offerContext({}, true))).toBe(false)
  }
})
