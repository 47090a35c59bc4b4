/** Several replicas on one database in this process. They can be stopped as if killed. */
import type { JsonObject } from '../../src/core/json/json.ts'
import type { ClientRequest } from '../../src/core/client-request.ts'
import { responsesDialect } from '../../src/dialects/responses/responses-dialect.ts'
import { createWebHttpExchange } from '../../src/server/runtime/web-http-exchange.ts'
import { createReplicaAndUnclosedTurns } from '../../src/gateway/replica-and-unclosed-turns.ts'
import {
  openBackgroundRunsOfProcess,
  type ProcessBackgroundRuns,
} from '../../src/background/background-runs.ts'
import { decodeBodyText } from '../../src/upstream/transport/decode-body-text.ts'
import type { UpstreamCall, Transport } from '../../src/upstream/transport/transport-interface.ts'
import type { Caller } from '../../src/core/client/caller.ts'
import type { GatewayDependencies } from '../../src/gateway/dependencies-interface.ts'
import type { OpenEngine } from '../store/engines.ts'
import { decodeFrames } from '../support/logs.ts'
import { UNLIMITED_MEMORY } from '../support/unlimited-memory.ts'
import { aMoment, newTurnId, testWorld, type TestWorld } from './background-test-support.ts'

/** Owner of everything in these tests; another replica takes over on her behalf. */
export const ANN: Caller = { tenant: 'local', user: 'ann' }

/** Every test has its own database; otherwise its replicas would recover runs of other tests. */
export async function withReplicas(
  play: (cluster: ReplicaCluster) => Promise<void>,
  environment: Record<string, string> = {},
  openEngine?: OpenEngine,
): Promise<void> {
  const world = await testWorld(environment, openEngine)
  const cluster = createCluster(world)
  try {
    await play(cluster)
  } finally {
    const alive = cluster.all.filter(({ isAlive }) => isAlive())
    await Promise.all(alive.map(({ runs }) => runs.shutDown(0)))
    await Promise.all(alive.map(({ runs }) => runs.releaseLease()))
    await world.close()
  }
}

export type ReplicaCluster = ReturnType<typeof createCluster>

export interface TestReplica {
  readonly id: string
  readonly world: GatewayDependencies
  readonly runs: ProcessBackgroundRuns
  /** Afterwards nothing of the replica reaches the database, and it receives nothing from it. */
  readonly kill: () => void
  readonly isAlive: () => boolean
  readonly cancelled: () => number
  /** Requests that its upstream received. */
  readonly sent: () => readonly unknown[]
}

function createCluster(memory: TestWorld) {
  const all: TestReplica[] = []
  /** Turn ids of all runs, in the order of their creation. */
  const opened: string[] = []
  /** Number of writes that will fail. */
  const faults = { open: 0, record: 0 }
  const shared: TestWorld = {
    ...memory,
    runs: {
      ...memory.runs,
      async openRun(turn, opening) {
        opened.push(turn.id)
        if (faults.open-- > 0) throw new Error('down')
        await memory.runs.openRun(turn, opening)
      },
      async recordRun(hold, events, items) {
        if (faults.record-- > 0) throw new Error('down')
        return memory.runs.recordRun(hold, events, items)
      },
    },
  }
  const caller = ANN
  return {
    all,
    shared,
    opened,
    faults,
    /** The first replica's upstream leaves some requests without an answer. `own`: ports of this replica only. */
    async startReplica(own: Partial<GatewayDependencies> = {}): Promise<TestReplica> {
      const id = newTurnId()
      const life = { isOver: false }
      const transport = watchTransport(shared.transport, all.length === 0)
      const killable = <Port extends object>(port: Port): Port => createKillablePort(port, life)
      const ports = { ...shared, ...own }
      const world: GatewayDependencies = {
        ...ports,
        store: killable(ports.store),
        runs: killable(ports.runs),
        archive: killable(ports.archive),
        conversations: killable(ports.conversations),
        transport: transport.transport,
        replica: createReplicaAndUnclosedTurns(id),
      }
      const runs = await openBackgroundRunsOfProcess(id, world)
      const kill = (): void => void (life.isOver = true)
      const isAlive = (): boolean => !life.isOver
      const { cancelled, sent } = transport
      const replica = { id, world, runs, kill, isAlive, cancelled, sent }
      all.push(replica)
      return replica
    },
    /** Starts a background response and resolves to its id. */
    async startRun(
      { runs }: TestReplica,
      input: string,
      more = {},
      owner: Caller = ANN,
    ): Promise<string> {
      const request = createAnswerRequest({ background: true, input, ...more })
      const response = await runs.answer({ ...request, caller: owner })
      if (response === null) throw new Error('It is not of the background.')
      return ((await response.json()) as { id: string }).id
    },
    async cancel({ runs, world }: TestReplica, id: string) {
      const memory = world.requestMemory.trackRequest(caller.tenant)
      return runs.cancel(id, caller, memory).finally(memory.close)
    },
    async follow({ runs }: TestReplica, id: string): Promise<string> {
      const request = new Request('http://localhost/')
      const exchange = createWebHttpExchange(request, () => undefined)
      const response = await runs.follow({ responseId: id, startingAfter: null, caller, exchange })
      return response.text()
    },
    async turn(id: string, owner: Caller = ANN) {
      return (await shared.store.loadChain(owner, id.slice('resp_'.length)))?.at(-1)
    },
    async events(id: string) {
      const page = await shared.runs.readLog(ANN, id.slice('resp_'.length), 0)
      return decodeFrames(page?.groups.map(({ text }) => text).join('') ?? '')
    },
  }
}

/** `disconnect` aborts when the client disconnects. */
export function createAnswerRequest(
  body: JsonObject,
  isResumable = false,
  disconnect?: AbortSignal,
) {
  const clientRequest: ClientRequest = responsesDialect.parse({ model: 'demo', ...body })
  const request = new Request('http://localhost/', disconnect && { signal: disconnect })
  const exchange = createWebHttpExchange(request, () => undefined)
  const caller = ANN
  const memory = UNLIMITED_MEMORY.trackRequest(caller.tenant)
  const dialect = responsesDialect
  return { dialect, clientRequest, caller, exchange, memory, options: {}, isResumable }
}

function createKillablePort<Port extends object>(
  port: Port,
  life: { readonly isOver: boolean },
): Port {
  return new Proxy(port, {
    get(target, name: string) {
      const verb = target[name as keyof Port]
      if (typeof verb !== 'function') return verb
      return async (...args: unknown[]): Promise<unknown> => {
        if (life.isOver) await never()
        const result: unknown = await (verb as (...args: unknown[]) => unknown)(...args)
        if (life.isOver) await never()
        return result
      }
    },
  })
}

function never(): Promise<never> {
  return new Promise(() => undefined)
}

export const UNANSWERED = '/say I was not answered at first.'

function watchTransport(transport: Transport, leavesUnanswered: boolean) {
  let count = 0
  const bodies: unknown[] = []
  return {
    cancelled: () => count,
    sent: () => bodies,
    transport: (request: Parameters<Transport>[0]): UpstreamCall => {
      const body = decodeBodyText(request)
      bodies.push(JSON.parse(body))
      const isUnanswered = leavesUnanswered && body.includes(UNANSWERED)
      const call = isUnanswered ? neverAnswer() : transport(request)
      const cancel = (): void => {
        count += 1
        call.cancel()
      }
      return { ...call, cancel }
    },
  }
}

function neverAnswer(): UpstreamCall {
  let fail: (error: Error) => void = () => undefined
  const reply = new Promise<never>((_, reject) => (fail = reject))
  return { reply, cancel: () => fail(new Error('cancelled')) }
}

export async function until<Value>(read: () => Promise<Value | undefined | false>): Promise<Value> {
  for (const end = Date.now() + 8_000; Date.now() < end; await aMoment(20)) {
    const value = await read()
    if (value !== undefined && value !== false) return value
  }
  throw new Error('It did not happen.')
}

/** Starts a run whose upstream does not answer yet, so that its log has only the opening events. */
export async function startSilentRun(
  cluster: ReplicaCluster,
  replica: TestReplica,
  more = {},
): Promise<string> {
  const id = await cluster.startRun(replica, UNANSWERED, more)
  await until(async () => (await cluster.turn(id))?.state === 'open')
  return id
}
