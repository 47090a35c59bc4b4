/** Dependencies with a real database and nothing else, and a client that can be slow and can disconnect. */
import { EXPLAIN_HOOKS } from '../../src/explain/explain-hooks.ts'
import type { ClientStream } from '../../src/gateway/http-exchange-interface.ts'
import { createReplicaAndUnclosedTurns } from '../../src/gateway/replica-and-unclosed-turns.ts'
import { createTurnIdGenerator } from '../../src/main/create-dependencies.ts'
import { readSettings } from '../../src/settings/read-settings.ts'
import { openNodeSqlite } from '../../src/store/database/node-sqlite-engine.ts'
import { migrate } from '../../src/store/database/migrate.ts'
import type { EventGroup } from '../../src/store/background-runs/run-store-interface.ts'
import type { NewTurn } from '../../src/store/turns/turn-store-interface.ts'
import { createStores } from '../../src/store/create-stores.ts'
import { wrapWithDemoTransport } from '../../src/upstream/transport/demo-transport.ts'
import type { GatewayDependencies } from '../../src/gateway/dependencies-interface.ts'
import type { Engine } from '../../src/store/database/engine-interface.ts'
import type { OpenEngine } from '../store/engines.ts'
import { newTurn } from '../store/turns.ts'
import { UNLIMITED_MEMORY } from '../support/unlimited-memory.ts'

export interface TestWorld extends GatewayDependencies {
  readonly logged: string[]
  readonly close: () => Promise<void>
}

export async function testWorld(
  environment: Record<string, string> = {},
  openEngine: OpenEngine = openMemory,
): Promise<TestWorld> {
  const engine = await openEngine()
  const settings = readSettings({ RUN_LEASE_SECONDS: '1', ...environment })
  const logged: string[] = []
  return {
    ...createStores(engine),
    settings,
    accounts: [
      {
        name: 'demo',
        wire: 'demo',
        baseUrl: 'demo://built-in',
        apiKey: null,
        models: ['demo'],
        headers: {},
        quirks: { delayMs: 1 },
      },
    ],
    transport: wrapWithDemoTransport(() => {
      throw new Error('not here')
    }),
    replica: createReplicaAndUnclosedTurns('R1'),
    hooks: EXPLAIN_HOOKS,
    requestMemory: UNLIMITED_MEMORY,
    newTurnId,
    nowMs: Date.now,
    log: (_, event) => void logged.push(event),
    logged,
    close: engine.close,
  }
}

export async function openMemory(): Promise<Engine> {
  const engine = await openNodeSqlite(':memory:')
  await migrate(engine)
  return engine
}

export const newTurnId = createTurnIdGenerator()

/** A run of the replica `R1` with an empty log. */
export async function openRun(
  world: GatewayDependencies,
  fields: Partial<NewTurn> = {},
): Promise<NewTurn> {
  const turn = newTurn({ id: newTurnId(), replicaId: 'R1', ...fields })
  await world.runs.openRun(turn, null)
  return turn
}

export function group(first: number, last: number, more = ''): EventGroup {
  let text = ''
  for (let at = first; at <= last; at += 1) {
    text += `event: e\ndata: {"type":"e","x":"${more}","sequence_number":${at}}\n\n`
  }
  return { first, last, text }
}

/** With `isSlow` the client is full after each write until it is drained. */
export function testClient(isSlow = false) {
  const seen = { text: '', writes: 0, ended: 0 }
  const gone: (() => void)[] = []
  const drained: (() => void)[] = []
  let isDisconnected = false
  const client: ClientStream = {
    write(text) {
      seen.writes += 1
      seen.text += typeof text === 'string' ? text : new TextDecoder().decode(text)
      return !isSlow
    },
    end(text) {
      seen.text += isDisconnected ? '' : text
      seen.ended += 1
    },
    abort: () => undefined,
    onDrain: (callback) => void drained.push(callback),
    onDisconnect: (callback) => void gone.push(callback),
    isDisconnected: () => isDisconnected,
  }
  return {
    client,
    seen,
    leave() {
      isDisconnected = true
      for (const callback of gone) callback()
    },
    drain() {
      for (const callback of drained) callback()
    },
  }
}

export function aMoment(ms = 5): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
