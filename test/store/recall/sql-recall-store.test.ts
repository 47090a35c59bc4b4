/**
 * Compares the search with a simple model of it in JavaScript: it returns no turn of another tenant
 * or user, and all matching turns of the owner.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { openNodeSqlite } from '../../../src/store/database/node-sqlite-engine.ts'
import type { Engine } from '../../../src/store/database/engine-interface.ts'
import { createRecallStore } from '../../../src/store/recall/sql-recall-store.ts'
import { createTurnStore } from '../../../src/store/turns/sql-turn-store.ts'
import { migrate } from '../../../src/store/database/migrate.ts'
import {
  MAX_TURNS_PER_KEY,
  type RecallKeys,
} from '../../../src/store/recall/recall-store-interface.ts'
import { assistant, createEnding, newId, newTurn, numberItems } from '../turns.ts'

let engine: Engine
beforeAll(async () => {
  engine = await openNodeSqlite(':memory:')
  await migrate(engine)
})
afterAll(() => engine.close())

const call = (id: string): Item => ({
  type: 'function_call',
  call_id: id,
  name: 'f',
  arguments: '',
})

/** Few values, so that they collide often. */
const tenants = fc.constantFrom('t', 't"', 'T')
const users = fc.constantFrom(null, 'ann', 'Ann', 'ann ', 'null')
const keys = fc.constantFrom<string>(
  'a',
  'A',
  'a ',
  '"a"',
  "a'",
  'a\0',
  '\ud800',
  '',
  'a,b',
  '["a"]',
)

const recorded = fc.record({
  tenant: tenants,
  user: users,
  calls: fc.array(keys, { maxLength: 2 }),
  outputs: fc.array(keys, { maxLength: 1 }),
  fingerprint: fc.option(keys),
  state: fc.constantFrom('queued', 'open', 'complete', 'failed', 'cancelled'),
  isAnswered: fc.boolean(),
})
type Recorded = typeof recorded extends fc.Arbitrary<infer Value> ? Value : never

const asked = fc.record({
  tenant: tenants,
  user: users,
  places: fc.array(fc.nat(19), { maxLength: 8 }),
  callIds: fc.array(keys, { maxLength: 4 }),
  fingerprints: fc.array(keys, { maxLength: 4 }),
})

test('findTurns finds exactly the turns of the owner that a key matches', async () => {
  const store = createTurnStore(engine)
  const recall = createRecallStore(engine)
  const many = fc.array(recorded, { minLength: 8, maxLength: 20 })
  const law = fc.asyncProperty(
    many,
    fc.array(asked, { minLength: 5 }),
    async (turns, questions) => {
      const world = newId()
      const ids = turns.map((_, at) => `${String.fromCharCode(65 + at)}${world}`)
      for (const [at, turn] of turns.entries()) await record(store, world, ids[at] ?? '', turn)
      for (const { places, ...question } of questions) {
        const turnIds = places.map((place) => ids[place] ?? `nothing ${place}`)
        const found = (
          await recall.findTurns({
            ...question,
            tenant: `${world}${question.tenant}`,
            turnIds,
          })
        ).turns
        const expected = modelled(turns, ids, { ...question, turnIds })
        expect(found.map(({ id }) => id).toSorted()).toEqual(expected)
      }
    },
  )
  await fc.assert(law, { numRuns: 40 })
})

async function record(
  store: ReturnType<typeof createTurnStore>,
  world: string,
  id: string,
  { tenant, user: who, calls, outputs, fingerprint, state, isAnswered }: Recorded,
): Promise<void> {
  const input = outputs.map((call_id): Item => ({
    type: 'function_call_output',
    call_id,
    output: '',
  }))
  const background = state === 'queued'
  const turn = newTurn({ id, tenant: `${world}${tenant}`, user: who, input, background })
  const items = numberItems([...calls.map(call), ...(isAnswered ? [assistant('hi')] : [])])
  await store.openTurn(turn)
  if (state === 'queued' || state === 'open') {
    await store.journalItems(turn, items)
  } else await store.closeTurn(createEnding(turn, { state, items, fingerprint }))
}

function modelled(
  turns: readonly Recorded[],
  ids: readonly string[],
  { tenant, user: who, turnIds, callIds, fingerprints }: RecallKeys,
): readonly string[] {
  const theirs = turns.flatMap((turn, at) =>
    turn.tenant === tenant && turn.user === who && turn.state !== 'queued'
      ? [{ ...turn, id: ids[at] ?? '' }]
      : [],
  )
  const answered = theirs.filter(({ calls, isAnswered }) => calls.length > 0 || isAnswered)
  const newest = (some: typeof theirs) => some.slice(-MAX_TURNS_PER_KEY).map(({ id }) => id)
  const byCall = callIds.flatMap((key) => newest(theirs.filter((turn) => turn.calls.includes(key))))
  const isEnded = (turn: Recorded) => turn.state !== 'open'
  const byWords = fingerprints.flatMap((key) =>
    newest(theirs.filter((turn) => isEnded(turn) && turn.fingerprint === key)),
  )
  const named = new Set([...turnIds, ...byCall, ...byWords])
  return answered.flatMap(({ id }) => (named.has(id) ? [id] : []))
}
