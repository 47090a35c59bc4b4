import type { Item } from '../../../src/core/item.ts'
import { describe, expect, test } from 'vitest'
import type { Message } from '../../../src/core/item.ts'
import type { Outcome } from '../../../src/core/fold-answer-outcome.ts'
import { openTurnWriter } from '../../../src/gateway/record/turn-writer.ts'
import { createReplicaIdentity } from '../../../src/gateway/replica-identity.ts'
import { readSettings } from '../../../src/settings/read-settings.ts'
import type {
  NewTurn,
  TurnStore,
  TurnEnding,
} from '../../../src/store/turns/turn-store-interface.ts'
import type { GatewayDependencies } from '../../../src/gateway/dependencies-interface.ts'

const TURN: NewTurn = {
  id: '01JZZZZZZZZZZZZZZZZZ',
  tenant: 'a',
  user: null,
  thread: '01JZZZZZZZZZZZZZZZZZ',
  parent: null,
  depth: 0,
  conversation: null,
  background: false,
  owner: null,
  dialect: 'responses',
  origin: { wire: 'demo', account: 'demo', model: 'demo', prefixHash: null },
  createdAtMs: 1,
  request: {},
  input: [],
}

const RECORDING = {
  placed: Promise.resolve({ turn: TURN, contentHash: null }),
  lock: null,
  isWorthStoring: () => false,
}

const MADE = { origin: () => TURN.origin, fingerprint: () => null, reasoningRejectedBy: null }

const FINISHED: Outcome = {
  items: [],
  finish: 'stop',
  failure: null,
  usage: null,
  upstreamId: null,
  model: null,
}

function said(text: string): Message {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }
}

/** A store that writes down what it is asked, and fails where it is told to. */
function diary(failing: readonly string[] = []) {
  const calls: string[] = []
  const endings: TurnEnding[] = []
  const logged: string[] = []
  const note = (verb: string, words = ''): Promise<void> => {
    calls.push(verb + words)
    return failing.includes(verb) ? Promise.reject(new Error('down')) : Promise.resolve()
  }
  const store: TurnStore = {
    openTurn: () => note('open'),
    journalItems: (_, __, items) =>
      note('journal', ` ${items.map(({ position }) => position).join(',')}`),
    closeTurn: async (ending) => {
      endings.push(ending)
      await note('close', ` ${ending.items.map(({ position }) => position).join(',')}`)
      return !failing.includes('late')
    },
    loadChain: () => Promise.resolve(null),
    ping: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
  const world: Partial<GatewayDependencies> = {
    store,
    settings: readSettings({}),
    accounts: [],
    transport: () => {
      throw new Error('not here')
    },
    replica: createReplicaIdentity('R1'),
    newTurnId: () => TURN.id,
    nowMs: () => 2,
    log: (_, event) => void logged.push(event),
  }
  return { calls, endings, logged, world: world as GatewayDependencies }
}

const aMoment = () => new Promise((resolve) => setTimeout(resolve, 60))

describe('writes', () => {
  test('an answer that ends at once makes two: open, and close with its items', async () => {
    const { world, calls, endings } = diary()
    const writer = openTurnWriter(TURN, RECORDING, world)
    writer.addItem(said('a'), 0)
    expect(await writer.close(FINISHED, 'finished', MADE)).toBe(FINISHED)
    expect(calls).toEqual(['open', 'close 0'])
    expect(endings[0]).toMatchObject({ state: 'complete', endedAtMs: 2 })
  })

  test('a burst of items makes one', async () => {
    const { world, calls } = diary()
    const writer = openTurnWriter(TURN, RECORDING, world)
    writer.addItem(said('a'), 0)
    writer.addItem(said('b'), 1)
    await aMoment()
    writer.addItem(said('c'), 2)
    await writer.close(FINISHED, 'finished', MADE)
    expect(calls).toEqual(['open', 'journal 0,1', 'close 2'])
  })

  test('items that could not be journaled are written at the close', async () => {
    const { world, calls } = diary(['journal'])
    const writer = openTurnWriter(TURN, RECORDING, world)
    writer.addItem(said('a'), 0)
    await aMoment()
    await writer.close(FINISHED, 'finished', MADE)
    expect(calls).toEqual(['open', 'journal 0', 'close 0'])
  })
})

describe('promises', () => {
  test('a turn that could not be opened is not written to, and the answer stands', async () => {
    const { world, calls, logged } = diary(['open'])
    const writer = openTurnWriter(TURN, RECORDING, world)
    writer.addItem(said('a'), 0)
    expect(await writer.opened).toBe(false)
    expect(await writer.close(FINISHED, 'finished', MADE)).toBe(FINISHED)
    expect(calls).toEqual(['open'])
    expect(logged).toEqual(['turn-not-opened'])
  })

  test('an answer whose turn could not be closed is told as a failure', async () => {
    const { world } = diary(['close'])
    const settled = await openTurnWriter(TURN, RECORDING, world).close(FINISHED, 'finished', MADE)
    expect(settled).toMatchObject({ finish: null, failure: { code: 'store_unavailable' } })
    // Somebody has to end it, when that is possible again.
    const { id: turnId, tenant, user } = TURN
    expect(world.replica.takeReleasedTurns()).toEqual([{ turnId, tenant, user }])
  })

  test('an answer whose turn has been ended by somebody else is told as a failure', async () => {
    const { world } = diary(['late'])
    const settled = await openTurnWriter(TURN, RECORDING, world).close(FINISHED, 'finished', MADE)
    expect(settled).toMatchObject({ finish: null, failure: { code: 'store_unavailable' } })
    expect(world.replica.takeReleasedTurns()).toEqual([])
  })
})

test.each([
  [{ finish: 'stop' }, 'finished', 'complete'],
  [{ finish: 'length' }, 'finished', 'incomplete'],
  [{ finish: 'content-filter' }, 'finished', 'incomplete'],
  [{ finish: null }, 'finished', 'failed'],
  [{ finish: null }, 'cancelled', 'cancelled'],
  [{ finish: 'stop' }, 'cancelled', 'complete'],
] as const)('%j that %s is %s', async (part, ending, state) => {
  const { world, endings } = diary()
  await openTurnWriter(TURN, RECORDING, world).close({ ...FINISHED, ...part }, ending, MADE)
  expect(endings[0]?.state).toBe(state)
})

describe('may be named', () => {
  const isWorthStoring = () => true

  test('as soon as what it holds is written', async () => {
    const { world } = diary()
    const writer = openTurnWriter(TURN, { ...RECORDING, isWorthStoring }, world)
    expect(writer.canBeReferenced()).toBe(false)
    await writer.opened
    expect(writer.canBeReferenced()).toBe(false)
    writer.addItem(said('a'), 0)
    expect(writer.canBeReferenced()).toBe(false)
    await expect.poll(writer.canBeReferenced).toBe(true)
  })

  test('soon, which is when that is written', async () => {
    const { world } = diary()
    const writer = openTurnWriter(
      TURN,
      { ...RECORDING, isWorthStoring, receivesMarkers: true },
      world,
    )
    expect(writer.whenReferenceable()).toBeNull()
    writer.addItem(said('a'), 0)
    await writer.whenReferenceable()
    expect(writer.canBeReferenced()).toBe(true)
    expect(writer.whenReferenceable()).toBeNull()
  })

  test('whatever is said behind that, which its client sends back itself', async () => {
    const { world } = diary()
    const isA = (item: Item) => item === first
    const first = said('a')
    const writer = openTurnWriter(
      TURN,
      { ...RECORDING, isWorthStoring: isA, receivesMarkers: true },
      world,
    )
    writer.addItem(first, 0)
    const soon = writer.whenReferenceable()
    writer.addItem(said('b'), 1)
    await soon
    expect(writer.canBeReferenced()).toBe(true)
  })

  test('once it is closed, however short it was', async () => {
    const { world } = diary()
    const writer = openTurnWriter(TURN, { ...RECORDING, isWorthStoring }, world)
    writer.addItem(said('a'), 0)
    await writer.close({ ...FINISHED, items: [said('a')] }, 'finished', MADE)
    expect(writer.canBeReferenced()).toBe(true)
  })

  test('never, if it could not be written, or holds nothing that would be missed', async () => {
    for (const [failing, worth] of [
      [['open'], isWorthStoring],
      [['close', 'journal'], isWorthStoring],
      [[], () => false],
    ] as const) {
      const { world } = diary(failing)
      const writer = openTurnWriter(TURN, { ...RECORDING, isWorthStoring: worth }, world)
      writer.addItem(said('a'), 0)
      await writer.close({ ...FINISHED, items: [said('a')] }, 'finished', MADE)
      expect(writer.canBeReferenced()).toBe(false)
    }
  })
})
