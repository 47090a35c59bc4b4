/** Tests which parent a turn gets whose request holds its complete history. */
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
let ports: GatewayDependencies
let tenant: string
const logged: string[] = []
beforeAll(async () => {
  stores = createStores(await openEngine('sqlite::memory:'))
  const rest = { nowMs: Date.now, log: (_: string, event: string) => void logged.push(event) }
  ports = { ...stores, ...rest } as unknown as GatewayDependencies
})
afterAll(() => stores.store.close())
beforeEach(() => {
  tenant = newId()
})

const createTurn = (items: readonly Item[], fields: Partial<NewTurn> = {}) =>
  newTurn({ dialect: 'chat', tenant, input: items, ...fields })

const createWriterOptions = (turn: NewTurn) => ({
  turnWithParent: findParentTurn(turn, null, ports),
  lock: null,
  isWorthStoring: () => false,
})

const ANSWER_METADATA = { origin: () => ORIGIN, fingerprint: () => null, reasoningRejectedBy: null }

/** Stores a turn with this input and answer, and returns it. */
async function storeTurn(items: readonly Item[], answer: string, fields: Partial<NewTurn> = {}) {
  const turn = createTurn(items, fields)
  const recorder = openTurnWriter(turn, createWriterOptions(turn), ports)
  recorder.addItem(assistant(answer), 0)
  const outcome = {
    finish: 'stop',
    failure: null,
    usage: null,
    upstreamId: null,
    model: 'm',
  } as const
  await recorder.close({ ...outcome, items: [assistant(answer)] }, 'finished', ANSWER_METADATA)
  return turn
}
const findPlacedTurn = async (items: readonly Item[], fields: Partial<NewTurn> = {}) =>
  (await findParentTurn(createTurn(items, fields), null, ports)).turn

const hello = [user('hello')]
const continued = [...hello, assistant('hi'), user('and?')]

test('findParentTurn finds the turn that a complete chat continues, and retains only the items after it', async () => {
  const first = await storeTurn(hello, 'hi')
  const second = await storeTurn(continued, 'so', { user: null })
  const third = await findPlacedTurn([...continued, assistant('so'), user('x'), user('y')])
  expect(await findPlacedTurn(continued)).toMatchObject({
    parent: first.id,
    depth: 1,
    thread: first.id,
  })
  expect((await findPlacedTurn(continued)).input).toEqual([user('and?')])
  expect(third).toMatchObject({ parent: second.id, depth: 2, thread: first.id })
  expect(third.input).toEqual([user('x'), user('y')])
})

test('findParentTurn finds the last turn before an answer that the client edited', async () => {
  const first = await storeTurn(hello, 'hi')
  await storeTurn(continued, 'so')
  const items = [...continued, assistant('no: so!'), user('x')]
  const turn = await findPlacedTurn(items)
  expect(turn.parent).toBe(first.id)
  expect(turn.input).toEqual(items.slice(2))
})

test('findParentTurn returns no parent if a turn has other content or belongs to another caller', async () => {
  await storeTurn(hello, 'hi', { tenant: newId() })
  await storeTurn(hello, 'hi', { user: 'somebody' })
  await storeTurn(hello, 'something else')
  const turn = await findPlacedTurn(continued)
  expect(turn).toMatchObject({ parent: null, depth: 0 })
  expect(turn.input).toEqual(continued)
  expect((await findPlacedTurn(continued, { user: 'somebody' })).parent).not.toBeNull()
})

test('findParentTurn returns no parent if the answer of the turn is unfinished', async () => {
  const turn = createTurn(hello)
  const recorder = openTurnWriter(turn, createWriterOptions(turn), ports)
  recorder.addItem(assistant('hi'), 0)
  const cut = { finish: null, failure: null, usage: null, upstreamId: null, model: null }
  await recorder.close({ ...cut, items: [assistant('hi')] }, 'cancelled', ANSWER_METADATA)
  expect((await findPlacedTurn(continued)).parent).toBeNull()
})

test('findParentTurn returns the complete input and no parent if the database fails', async () => {
  const archive = { ...stores.archive, findTurnByContent: () => Promise.reject(new Error('away')) }
  const { turn } = await findParentTurn(createTurn(continued), null, { ...ports, archive })
  expect(turn).toMatchObject({ parent: null, input: continued })
  expect(logged).toContain('turn-not-placed')
})

test('findParentTurn returns the parent that an id in the request names, even if another turn has the same content', async () => {
  await storeTurn(hello, 'hi')
  const parent = await stores.archive.loadTurn(
    { tenant, user: null },
    (await storeTurn(hello, 'other')).id,
  )
  const named = createTurn([user('go')], { parent: parent?.id ?? '' })
  const { turn, contentHash } = await findParentTurn(named, parent, ports)
  expect(turn).toMatchObject({ parent: parent?.id, input: [user('go')] })
  expect(contentHash).not.toBeNull()
})

test('findParentTurn returns no content hash for a turn of a conversation', async () => {
  const turn = createTurn(continued, { conversation: 'conv_1' })
  expect((await findParentTurn(turn, null, ports)).contentHash).toBeNull()
})
