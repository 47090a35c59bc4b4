/** The number of round trips to the database that one after the other delay an answer. On D1, each takes long. */
import { expect, test } from 'vitest'
import { createBackgroundRunsOfRequest } from '../../src/background/background-runs.ts'
import type { JsonObject } from '../../src/core/json/json.ts'
import { createApp } from '../../src/server/app.ts'
import { createWebHttpExchange } from '../../src/server/runtime/web-http-exchange.ts'
import { createStores } from '../../src/store/create-stores.ts'
import { openMemory, testWorld } from '../background/background-test-support.ts'
import { groupRoundTrips } from '../store/record-round-trips.ts'

/** Starts a Worker whose round trips are counted from the request on that `play` sends. */
async function withWorker(
  play: (worker: Awaited<ReturnType<typeof startWorker>>) => Promise<void>,
): Promise<void> {
  const worker = await startWorker()
  try {
    await play(worker)
  } finally {
    await worker.finish()
  }
}

async function startWorker() {
  const engine = await openMemory()
  const counted = groupRoundTrips(engine)
  const world = await testWorld({}, () => Promise.resolve(counted.engine))
  const pending: Promise<unknown>[] = []
  let groupsBeforeSending: number | null = null
  const settle = async (): Promise<void> => {
    for (let last = -1; last < pending.length;) {
      last = pending.length
      await Promise.allSettled(pending)
    }
  }
  const post = async (path: string, body: JsonObject): Promise<Response> => {
    // Each request has stores of its own, whose caches are empty.
    const ports = {
      ...world,
      ...createStores(counted.engine, undefined, {
        storesUpstreamRequests: true,
        turnLeaseMs: 30_000,
      }),
      transport(...sent: Parameters<typeof world.transport>) {
        groupsBeforeSending ??= counted.groups.length
        return world.transport(...sent)
      },
    }
    const app = createApp(ports, createBackgroundRunsOfRequest(ports), ({ req }) =>
      createWebHttpExchange(req.raw, (work) => void pending.push(work)),
    )
    const isGet = Object.keys(body).length === 0
    const response = await app.request(`/v1${path}`, {
      method: isGet ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json' },
      ...(isGet ? {} : { body: JSON.stringify({ model: 'demo', ...body }) }),
    })
    expect(response.status).toBe(200)
    return response
  }
  return {
    async send(path: string, body: JsonObject = {}): Promise<JsonObject> {
      const answer = (await (await post(path, body)).json()) as JsonObject
      await settle()
      return answer
    },
    /** Sends a request, and returns the names of the statements of each round trip. */
    async count(path: string, body: JsonObject = {}) {
      counted.groups.length = 0
      groupsBeforeSending = null
      await (await post(path, body)).text()
      const names = counted.groups.map((group) =>
        group.flatMap(({ queries }) => queries.map(({ name }) => name)),
      )
      await settle()
      return { beforeSending: names.slice(0, groupsBeforeSending ?? undefined), all: names }
    },
    async finish() {
      await settle()
      await world.close()
    },
  }
}

const CHAT = [
  { role: 'user', content: 'Which tram goes to the harbour?' },
  { role: 'assistant', content: 'Line 12 goes to the harbour, every ten minutes.' },
  { role: 'user', content: 'And at night?' },
]

test('summaries and memory layers are read in one round trip', () =>
  withWorker(async ({ count }) => {
    const backstory = {
      summaries: { trigger: 'turns', above: 4, keep_turns: 1, keep_tokens: 0 },
      layers: { facts: true, working_memory: true, scope: 'user' },
    }
    const { beforeSending } = await count('/chat/completions', {
      messages: CHAT,
      user: 'ann',
      backstory,
    })
    expect(beforeSending).toHaveLength(2)
  }))

test('the parent of a stored chat completion is searched in the round trip of recall', () =>
  withWorker(async ({ count }) => {
    const { all } = await count('/chat/completions', { messages: CHAT, store: true })
    expect(all.findIndex((names) => names.includes('insert-turn'))).toBe(1)
  }))

test('the lease of a run is stored while its history is read', () =>
  withWorker(async ({ send, count }) => {
    const { id } = await send('/responses', { input: 'Hello' })
    const next = { input: 'And?', previous_response_id: id as string }
    const { beforeSending } = await count('/responses', { ...next, background: true })
    expect(beforeSending).toHaveLength(1)
  }))

test('a finished response is read in one round trip', () =>
  withWorker(async ({ send, count }) => {
    const { id } = await send('/responses', { input: 'Hello' })
    const { all } = await count(`/responses/${id as string}`)
    expect(all).toHaveLength(1)
  }))

test('an answer in one piece that nobody asked to store is written when its turn is opened and closed, and not in between', () =>
  withWorker(async ({ count }) => {
    const { beforeSending, all } = await count('/chat/completions', {
      messages: [{ role: 'user', content: '/think Hm.\n/say Yes.' }],
    })
    expect(all.slice(beforeSending.length)).toEqual([
      expect.arrayContaining(['insert-turn']),
      expect.arrayContaining(['insert-item-list', 'end-turn']),
    ])
  }))
