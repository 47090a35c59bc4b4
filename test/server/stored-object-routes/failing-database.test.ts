/** While the database is away, each route answers 503, so that clients try again, and none answers 500. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createBackgroundRunsOfRequest } from '../../../src/background/background-runs.ts'
import { createApp } from '../../../src/server/app.ts'
import { createWebHttpExchange } from '../../../src/server/runtime/web-http-exchange.ts'
import { STORED_OBJECT_ROUTES } from '../../../src/server/stored-object-routes/route-list.ts'
import { createStores } from '../../../src/store/create-stores.ts'
import type { Engine } from '../../../src/store/database/engine-interface.ts'
import { startGateway } from '../../support/gateway.ts'

const FAILING_ENGINE: Engine = {
  language: 'sqlite',
  read: () => Promise.reject(new Error('The connection was lost.')),
  write: () => Promise.reject(new Error('The connection was lost.')),
  close: () => Promise.resolve(),
}

let gateway: Awaited<ReturnType<typeof startGateway>>
let app: ReturnType<typeof createApp>
const logged: string[] = []
beforeAll(async () => {
  gateway = await startGateway({})
  const ports = {
    ...gateway.dependencies,
    ...createStores(FAILING_ENGINE),
    log: (_level: string, event: string) => void logged.push(event),
  }
  app = createApp(ports, createBackgroundRunsOfRequest(ports), ({ req }) =>
    createWebHttpExchange(req.raw, () => undefined),
  )
})
afterAll(() => gateway.close())

const TURN_ID = '01M7R8WH3CG7NWY4TNQS'
const BODIES: Readonly<Record<string, object>> = {
  '/conversations/:id/items': { items: [{ role: 'user', content: 'x' }] },
  '/memory/facts': { text: 'A tram line was opened in Oslo.' },
  '/memory/working': { memory: { a: 1 } },
  '/conversations/:id/context': { policy: 'lean' },
  '/conversations/:id/reset': {},
  '/conversations/:id/summarize': {},
}
const ROUTES = [
  ...STORED_OBJECT_ROUTES.map(({ method, path }) => [method, path] as const),
  ['POST', '/responses/:id/cancel'],
  ['GET', '/responses/:id'],
  ['GET', '/responses/:id?stream=true'],
  ['GET', '/context/explain/:id'],
  ['POST', '/conversations/:id/summarize'],
  ['GET', '/conversations/:id/summaries'],
] as const

test.each(ROUTES)(
  '%s %s gets status 503 and retry-after while the database is away',
  async (method, path) => {
    const filled = path.replace(/:(\w+)/g, (_, name: string) => fillParameter(path, name))
    const query = path === '/memory/working' ? `?conversation=conv_${TURN_ID}` : ''
    const body = JSON.stringify(BODIES[path] ?? { metadata: {} })
    const request = new Request(`http://localhost/v1${filled}${query}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(method === 'POST' || method === 'PUT' ? { body } : {}),
    })
    const response = await app.fetch(request)
    const answer = (await response.json()) as { readonly error?: { readonly code: string } }
    expect([response.status, answer.error?.code]).toEqual([503, 'store_unavailable'])
    expect(response.headers.get('retry-after')).toBe('1')
    expect(logged).not.toContain('unexpected')
  },
)

function fillParameter(path: string, name: string): string {
  if (name === 'user') return 'ann'
  if (name.startsWith('summary')) return `sum_${TURN_ID}`
  if (name !== 'id') return `item_${TURN_ID}`
  if (path.startsWith('/memory/turns')) return TURN_ID
  if (path.startsWith('/memory/facts')) return `fact_${TURN_ID}`
  if (path.startsWith('/chat')) return `chatcmpl-${TURN_ID}`
  return path.startsWith('/conversations') ? `conv_${TURN_ID}` : `resp_${TURN_ID}`
}

test('POST /conversations waits for a database that hangs no longer than an answer does', async () => {
  const hanging: Engine = { ...FAILING_ENGINE, write: () => new Promise(() => undefined) }
  const ports = { ...gateway.dependencies, ...createStores(hanging) }
  const patient = createApp(ports, createBackgroundRunsOfRequest(ports), ({ req }) =>
    createWebHttpExchange(req.raw, () => undefined),
  )
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const created = Promise.resolve(
      patient.request('http://localhost/v1/conversations', { method: 'POST', body: '{}' }),
    )
    // The wait begins only after the body was read.
    for (let second = 0; second < 6; second += 1) await vi.advanceTimersByTimeAsync(1000)
    const { status, headers } = await created
    expect([status, headers.get('retry-after')]).toEqual([503, '1'])
  } finally {
    vi.useRealTimers()
  }
})
