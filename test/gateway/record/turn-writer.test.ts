import type { Item, Message } from '../../../src/core/item.ts'
import { describe, expect, test } from 'vitest'
import type { Outcome } from '../../../src/core/collect-answer-outcome.ts'
import { openTurnWriter } from '../../../src/gateway/record/turn-writer.ts'
import { createReplicaAndUnclosedTurns } from '../../../src/gateway/replica-and-unclosed-turns.ts'
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
  replicaId: null,
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

const ANSWER_METADATA = {
  origin: () => TURN.origin,
  fingerprint: () => null,
  reasoningRejectedBy: null,
}

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
    journalItems: (_, items) =>
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
    replica: createReplicaAndUnclosedTurns('R1'),
    newTurnId: () => TURN.id,
    nowMs: () => 2,
    log: (_, event) => void logged.push(event),
  }
  return { calls, endings, logged, ports: ports as GatewayDependencies }
}

const waitForJournal = () => new Promise((resolve) => setTimeout(resolve, 60))

describe('the database writes of one turn', () => {
  test('a turn with a quick answer is stored in two writes: one opens it, and one closes it with all items', async () => {
    const { ports, calls, endings } = recordCalls()
    const writer = openTurnWriter(TURN, WRITER_OPTIONS, ports)
    writer.addItem(assistant('a'), 0)
    expect(await writer.close(FINISHED, 'finished', ANSWER_METADATA)).toBe(FINISHED)
    expect(calls).toEqual(['open', 'close 0'])
    expect(endings[0]).toMatchObject({ state: 'complete', endedAtMs: 2 })
  })

  test('items that end in quick succession are journaled in one write', async () => {
    const { ports, calls } = recordCalls()
    const writer = openTurnWriter(TURN, WRITER_OPTIONS, ports)
    writer.addItem(assistant('a'), 0)
    writer.addItem(assistant('b'), 1)
    await waitForJournal()
    writer.addItem(assistant('c'), 2)
    await writer.close(FINISHED, 'finished', ANSWER_METADATA)
    expect(calls).toEqual(['open', 'journal 0,1', 'close 2'])
  })

  test('items that could not be journaled are written when their turn is closed', async () => {
    const { ports, calls } = recordCalls(['journal'])
    const writer = openTurnWriter(TURN, WRITER_OPTIONS, ports)
    writer.addItem(assistant('a'), 0)
    await waitForJournal()
    await writer.close(FINISHED, 'finished', ANSWER_METADATA)
    expect(calls).toEqual(['open', 'journal 0', 'close 0'])
  })
})

describe('a database that fails while a turn is written', () => {
  test('an answer stays unchanged if its turn could not be opened', async () => {
    const { ports, calls, logged } = recordCalls(['open'])
    const writer = openTurnWriter(TURN, WRITER_OPTIONS, ports)
    writer.addItem(assistant('a'), 0)
    expect(await writer.whenOpened).toBe(false)
    expect(await writer.close(FINISHED, 'finished', ANSWER_METADATA)).toBe(FINISHED)
    expect(calls).toEqual(['open'])
    expect(logged).toEqual(['turn-not-opened'])
  })

  test('an answer becomes a failure if its turn could not be closed', async () => {
    const { ports } = recordCalls(['close'])
    const settled = await openTurnWriter(TURN, WRITER_OPTIONS, ports).close(
      FINISHED,
      'finished',
      ANSWER_METADATA,
    )
    expect(settled).toMatchObject({ finish: null, failure: { code: 'store_unavailable' } })
    // A replica closes the turn when the database is back.
    const { id: turnId, tenant, user } = TURN
    expect(ports.replica.takeUnclosedTurns()).toEqual([{ turnId, tenant, user }])
  })

  test('an answer becomes a failure if another replica has closed its turn', async () => {
    const { ports } = recordCalls(['late'])
    const settled = await openTurnWriter(TURN, WRITER_OPTIONS, ports).close(
      FINISHED,
      'finished',
      ANSWER_METADATA,
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
] as const)(
  'a turn with the outcome %j and the ending `%s` is stored with the state `%s`',
  async (part, ending, state) => {
    const { ports, endings } = recordCalls()
    await openTurnWriter(TURN, WRITER_OPTIONS, ports).close(
      { ...FINISHED, ...part },
      ending,
      ANSWER_METADATA,
    )
    expect(endings[0]?.state).toBe(state)
  },
)

describe('the time from which a marker may name a turn', () => {
  const isWorthStoring = () => true

  test('a marker may name a turn as soon as the items worth storing are written', async () => {
    const { ports } = recordCalls()
    const writer = openTurnWriter(TURN, { ...WRITER_OPTIONS, isWorthStoring }, ports)
    expect(writer.canBeNamedByMarker()).toBe(false)
    await writer.whenOpened
    expect(writer.canBeNamedByMarker()).toBe(false)
    writer.addItem(assistant('a'), 0)
    expect(writer.canBeNamedByMarker()).toBe(false)
    await expect.poll(writer.canBeNamedByMarker).toBe(true)
  })

  test('a marker may name a turn when its `whenNameableByMarker` resolves', async () => {
    const { ports } = recordCalls()
    const writer = openTurnWriter(
      TURN,
      { ...WRITER_OPTIONS, isWorthStoring, receivesMarkers: true },
      ports,
    )
    expect(writer.whenNameableByMarker()).toBeNull()
    writer.addItem(assistant('a'), 0)
    await writer.whenNameableByMarker()
    expect(writer.canBeNamedByMarker()).toBe(true)
    expect(writer.whenNameableByMarker()).toBeNull()
  })

  test('a marker may name a turn before a later item that is not worth storing is written', async () => {
    const { ports } = recordCalls()
    const isA = (item: Item) => item === first
    const first = assistant('a')
    const writer = openTurnWriter(
      TURN,
      { ...WRITER_OPTIONS, isWorthStoring: isA, receivesMarkers: true },
      ports,
    )
    writer.addItem(first, 0)
    const soon = writer.whenNameableByMarker()
    writer.addItem(assistant('b'), 1)
    await soon
    expect(writer.canBeNamedByMarker()).toBe(true)
  })

  test('a marker may name a turn as soon as the turn is closed, even before its first journal write', async () => {
    const { ports } = recordCalls()
    const writer = openTurnWriter(TURN, { ...WRITER_OPTIONS, isWorthStoring }, ports)
    writer.addItem(assistant('a'), 0)
    await writer.close({ ...FINISHED, items: [assistant('a')] }, 'finished', ANSWER_METADATA)
    expect(writer.canBeNamedByMarker()).toBe(true)
  })

  test('no marker can name a turn if a write failed or no item is worth storing', async () => {
    for (const [failing, worth] of [
      [['open'], isWorthStoring],
      [['close', 'journal'], isWorthStoring],
      [[], () => false],
    ] as const) {
      const { ports } = recordCalls(failing)
      const writer = openTurnWriter(TURN, { ...WRITER_OPTIONS, isWorthStoring: worth }, ports)
      writer.addItem(assistant('a'), 0)
      await writer.close({ ...FINISHED, items: [assistant('a')] }, 'finished', ANSWER_METADATA)
      expect(writer.canBeNamedByMarker()).toBe(false)
    }
  })
})
