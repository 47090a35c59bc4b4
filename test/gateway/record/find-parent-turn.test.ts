/** Where a turn comes to stand whose request brings its whole history. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { findParentTurn } from '../../../src/gateway/record/find-parent-turn.ts'
import { openTurnWriter } from '../../../src/gateway/record/turn-writer.ts'
import { openEngine } from '../../../src/store/database/open-engine.ts'
import { createStores, type Stores } from '../../../src/store/create-stores.ts'
import type { NewTurn } from '../../../src/store/turns/turn-store-interface.ts'
import type { GatewayDependencies } from '../../../src/gateway/dependencies-interface.ts'
import { assistant, newId, newTurn, ORIGIN, user } from '../../store/turns.ts'

let stores: Stores
let world: GatewayDependencies
let tenant: string
const logged: string[] = []
beforeAll(async () => {
  stores = createStores(await openEngine('sqlite::memory:'))
  const rest = { nowMs: Date.now, log: (_: string, event: string) => void logged.push(event) }
  world = { ...stores, ...rest } as unknown as GatewayDependencies
})
afterAll(() => stores.store.close())
beforeEach(() => {
  tenant = newId()
})

const turnOf = (items: readonly Item[], fields: Partial<NewTurn> = {}) =>
  newTurn({ dialect: 'chat', tenant, input: items, ...fields })

const recordingOf = (turn: NewTurn) => ({
  placed: findParentTurn(turn, null, world),
  lock: null,
  isWorthStoring: () => false,
})

const MADE = { origin: () => ORIGIN, fingerprint: () => null, reasoningRejectedBy: null }

/** Asks, is answered, and returns the turn. */
async function said(items: readonly Item[], answer: string, fields: Partial<NewTurn> = {}) {
  const turn = turnOf(items, fields)
  const recorder = openTurnWriter(turn, recordingOf(turn), world)
  recorder.addItem(assistant(answer), 0)
  const outcome = {
    finish: 'stop',
    failure: null,
    usage: null,
    upstreamId: null,
    model: 'm',
  } as const
  await recorder.close({ ...outcome, items: [assistant(answer)] }, 'finished', MADE)
  return turn
}
const place = async (items: readonly Item[], fields: Partial<NewTurn> = {}) =>
  (await findParentTurn(turnOf(items, fields), null, world)).turn

const hello = [user('hello')]
const goesOn = [...hello, assistant('hi'), user('and?')]

test('behind the turn that it goes on from, with only what is new', async () => {
  const first = await said(hello, 'hi')
  const second = await said(goesOn, 'so', { user: null })
  const third = await place([...goesOn, assistant('so'), user('x'), user('y')])
  expect(await place(goesOn)).toMatchObject({ parent: first.id, depth: 1, thread: first.id })
  expect((await place(goesOn)).input).toEqual([user('and?')])
  expect(third).toMatchObject({ parent: second.id, depth: 2, thread: first.id })
  expect(third.input).toEqual([user('x'), user('y')])
})

test('behind the last turn that fits, where the client has changed what came then', async () => {
  const first = await said(hello, 'hi')
  await said(goesOn, 'so')
  const items = [...goesOn, assistant('no: so!'), user('x')]
  const turn = await place(items)
  expect(turn.parent).toBe(first.id)
  expect(turn.input).toEqual(items.slice(2))
})

test('alone, if nothing like it was said, or only by others', async () => {
  await said(hello, 'hi', { tenant: newId() })
  await said(hello, 'hi', { user: 'somebody' })
  await said(hello, 'something else')
  const turn = await place(goesOn)
  expect(turn).toMatchObject({ parent: null, depth: 0 })
  expect(turn.input).toEqual(goesOn)
  expect((await place(goesOn, { user: 'somebody' })).parent).not.toBeNull()
})

test('alone, if the answer it goes on from was not finished', async () => {
  const turn = turnOf(hello)
  const recorder = openTurnWriter(turn, recordingOf(turn), world)
  recorder.addItem(assistant('hi'), 0)
  const cut = { finish: null, failure: null, usage: null, upstreamId: null, model: null }
  await recorder.close({ ...cut, items: [assistant('hi')] }, 'cancelled', MADE)
  expect((await place(goesOn)).parent).toBeNull()
})

test('alone and whole, if the database does not say', async () => {
  const archive = { ...stores.archive, findContent: () => Promise.reject(new Error('away')) }
  const { turn } = await findParentTurn(turnOf(goesOn), null, { ...world, archive })
  expect(turn).toMatchObject({ parent: null, input: goesOn })
  expect(logged).toContain('turn-not-placed')
})

test('where its request says, if it says so', async () => {
  await said(hello, 'hi')
  const parent = await stores.archive.loadTurn(
    { tenant, user: null },
    (await said(hello, 'other')).id,
  )
  const named = turnOf([user('go')], { parent: parent?.id ?? '' })
  const { turn, contentHash } = await findParentTurn(named, parent, world)
  expect(turn).toMatchObject({ parent: parent?.id, input: [user('go')] })
  expect(contentHash).not.toBeNull()
})

test('a turn of a conversation is looked for by nobody', async () => {
  const turn = turnOf(goesOn, { conversation: 'conv_1' })
  expect((await findParentTurn(turn, null, world)).contentHash).toBeNull()
})
