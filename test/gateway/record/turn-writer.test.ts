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

const WRITER_OPTIONS = {
  turnWithParent: Promise.resolve({ turn: TURN, contentHash: null }),
  lock: null,
  isWorthStoring: () => false,
}

const PROVENANCE = { origin: () => TURN.origin, fingerprint: () => null, reasoningRejectedBy: null }

const FINISHED: Outcome = {
  items: [],
  finish: 'stop',
  failure: null,
  usage: null,
  upstreamId: null,
  model: null,
}

function assistant(text: string): Message {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }
}

/** A store that records its calls, e.g. `journal 0,1`, and fails in those of `failing`. */
function recordCalls(failing: readonly string[] = []) {
  const calls: string[] = []
  const endings: TurnEnding[] = []
  const logged: string[] = []
  const record = (verb: string, details = ''): Promise<void> => {
    calls.push(verb + details)
    return failing.includes(verb) ? Promise.reject(new Error('down')) : Promise.resolve()
  }
  const store: TurnStore = {
    openTurn: () => record('open'),
    journalItems: (_, __, items) =>
      record('journal', ` ${items.map(({ position }) => position).join(',')}`),
    closeTurn: async (ending) => {
      endings.push(ending)
      await record('close', ` ${ending.items.map(({ position }) => position).join(',')}`)
      return !failing.includes('late')
    },
    loadChain: () => Promise.resolve(null),
    ping: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
  const ports: Partial<GatewayDependencies> = {
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
  return { calls, endings, logged, ports: ports as GatewayDependencies }
}

const waitForJournal = () => new Promise((resolve) => setTimeout(resolve, 60))

describe('the writes of a turn', () => {
  test('are two for a quick answer: open, and close with the items', async () => {
    const { ports, calls, endings } = recordCalls()
    const writer = openTurnWriter(TURN, WRITER_OPTIONS, ports)
    writer.addItem(assistant('a'), 0)
    expect(await writer.close(FINISHED, 'finished', PROVENANCE)).toBe(FINISHED)
    expect(calls).toEqual(['open', 'close 0'])
    expect(endings[0]).toMatchObject({ state: 'complete', endedAtMs: 2 })
  })

  test('include one journal write for several items in quick succession', async () => {
    const { ports, calls } = recordCalls()
    const writer = openTurnWriter(TURN, WRITER_OPTIONS, ports)
    writer.addItem(assistant('a'), 0)
    writer.addItem(assistant('b'), 1)
    await waitForJournal()
    writer.addItem(assistant('c'), 2)
    await writer.close(FINISHED, 'finished', PROVENANCE)
    expect(calls).toEqual(['open', 'journal 0,1', 'close 2'])
  })

  test('include items that could not be journaled when the turn is closed', async () => {
    const { ports, calls } = recordCalls(['journal'])
    const writer = openTurnWriter(TURN, WRITER_OPTIONS, ports)
    writer.addItem(assistant('a'), 0)
    await waitForJournal()
    await writer.close(FINISHED, 'finished', PROVENANCE)
    expect(calls).toEqual(['open', 'journal 0', 'close 0'])
  })
})

describe('a failure of the store', () => {
  test('leaves the answer unchanged if the turn could not be opened', async () => {
    const { ports, calls, logged } = recordCalls(['open'])
    const writer = openTurnWriter(TURN, WRITER_OPTIONS, ports)
    writer.addItem(assistant('a'), 0)
    expect(await writer.opened).toBe(false)
    expect(await writer.close(FINISHED, 'finished', PROVENANCE)).toBe(FINISHED)
    expect(calls).toEqual(['open'])
    expect(logged).toEqual(['turn-not-opened'])
  })

  test('makes the answer a failure if the turn could not be closed', async () => {
    const { ports } = recordCalls(['close'])
    const settled = await openTurnWriter(TURN, WRITER_OPTIONS, ports).close(
      FINISHED,
      'finished',
      PROVENANCE,
    )
    expect(settled).toMatchObject({ finish: null, failure: { code: 'store_unavailable' } })
    // A replica closes the turn when the database is back.
    const { id: turnId, tenant, user } = TURN
    expect(ports.replica.takeUnclosedTurns()).toEqual([{ turnId, tenant, user }])
  })

  test('makes the answer a failure if another replica has closed the turn', async () => {
    const { ports } = recordCalls(['late'])
    const settled = await openTurnWriter(TURN, WRITER_OPTIONS, ports).close(
      FINISHED,
      'finished',
      PROVENANCE,
    )
    expect(settled).toMatchObject({ finish: null, failure: { code: 'store_unavailable' } })
    expect(ports.replica.takeUnclosedTurns()).toEqual([])
  })
})

test.each([
  [{ finish: 'stop' }, 'finished', 'complete'],
  [{ finish: 'length' }, 'finished', 'incomplete'],
  [{ finish: 'content-filter' }, 'finished', 'incomplete'],
  [{ finish: null }, 'finished', 'failed'],
  [{ finish: null }, 'cancelled', 'cancelled'],
  [{ finish: 'stop' }, 'cancelled', 'complete'],
] as const)('an outcome %j that was %s has the state %s', async (part, ending, state) => {
  const { ports, endings } = recordCalls()
  await openTurnWriter(TURN, WRITER_OPTIONS, ports).close(
    { ...FINISHED, ...part },
    ending,
    PROVENANCE,
  )
  expect(endings[0]?.state).toBe(state)
})

describe('a marker may name the turn', () => {
  const isWorthStoring = () => true

  test('once its items worth storing are written', async () => {
    const { ports } = recordCalls()
    const writer = openTurnWriter(TURN, { ...WRITER_OPTIONS, isWorthStoring }, ports)
    expect(writer.canBeReferenced()).toBe(false)
    await writer.opened
    expect(writer.canBeReferenced()).toBe(false)
    writer.addItem(assistant('a'), 0)
    expect(writer.canBeReferenced()).toBe(false)
    await expect.poll(writer.canBeReferenced).toBe(true)
  })

  test('when whenReferenceable resolves', async () => {
    const { ports } = recordCalls()
    const writer = openTurnWriter(
      TURN,
      { ...WRITER_OPTIONS, isWorthStoring, receivesMarkers: true },
      ports,
    )
    expect(writer.whenReferenceable()).toBeNull()
    writer.addItem(assistant('a'), 0)
    await writer.whenReferenceable()
    expect(writer.canBeReferenced()).toBe(true)
    expect(writer.whenReferenceable()).toBeNull()
  })

  test('although later text that the client sends back is not written yet', async () => {
    const { ports } = recordCalls()
    const isA = (item: Item) => item === first
    const first = assistant('a')
    const writer = openTurnWriter(
      TURN,
      { ...WRITER_OPTIONS, isWorthStoring: isA, receivesMarkers: true },
      ports,
    )
    writer.addItem(first, 0)
    const soon = writer.whenReferenceable()
    writer.addItem(assistant('b'), 1)
    await soon
    expect(writer.canBeReferenced()).toBe(true)
  })

  test('once it is closed, even within 25 ms', async () => {
    const { ports } = recordCalls()
    const writer = openTurnWriter(TURN, { ...WRITER_OPTIONS, isWorthStoring }, ports)
    writer.addItem(assistant('a'), 0)
    await writer.close({ ...FINISHED, items: [assistant('a')] }, 'finished', PROVENANCE)
    expect(writer.canBeReferenced()).toBe(true)
  })

  test('never if a write failed or no item is worth storing', async () => {
    for (const [failing, worth] of [
      [['open'], isWorthStoring],
      [['close', 'journal'], isWorthStoring],
      [[], () => false],
    ] as const) {
      const { ports } = recordCalls(failing)
      const writer = openTurnWriter(TURN, { ...WRITER_OPTIONS, isWorthStoring: worth }, ports)
      writer.addItem(assistant('a'), 0)
      await writer.close({ ...FINISHED, items: [assistant('a')] }, 'finished', PROVENANCE)
      expect(writer.canBeReferenced()).toBe(false)
    }
  })
})
