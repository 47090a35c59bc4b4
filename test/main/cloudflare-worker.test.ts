/** The Worker's check of its database before the first request, and the end of turns whose Workers have ended. */
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { createTestHarness } from 'wrangler'
import { createStores } from '../../src/store/create-stores.ts'
import { openD1, type D1Binding } from '../../src/store/database/d1-engine.ts'
import { newTurnId } from '../background/background-test-support.ts'
import { newTurn } from '../store/turns.ts'

beforeAll(() => {
  process.env['CLOUDFLARE_CF_FETCH_ENABLED'] = 'false'
  process.env['WRANGLER_SEND_METRICS'] = 'false'
})

async function startWorker(vars: Readonly<Record<string, string>>) {
  const harness = createTestHarness({
    root: new URL('../..', import.meta.url).pathname,
    workers: [{ configPath: 'wrangler.toml', vars }],
  })
  onTestFinished(() => harness.close())
  const { url } = await harness.listen()
  const worker = harness.getWorker<{ DB: D1Binding }>()
  await worker.applyD1Migrations('DB')
  const { DB } = await worker.getEnv()
  return {
    request: (path: string, init: RequestInit = {}) => fetch(new URL(path, url), init),
    run: (sql: string) => DB.batch([DB.prepare(sql).bind()]),
    stores: createStores(openD1(DB)),
    runSchedule: () => worker.scheduled({ cron: '17 * * * *' }),
  }
}

test('on Workers, a database of a newer version is rejected with 503 and the reason, but not by an isolate that serves already', async () => {
  const { request, run } = await startWorker({})
  await run(`insert into d1_migrations (name) values ('9999_newer.sql')`)
  const rejected = await request('/v1/models')
  expect(rejected.status).toBe(503)
  expect(rejected.headers.get('retry-after')).toBe('1')
  expect(await rejected.json()).toMatchObject({
    error: {
      code: 'store_unavailable',
      type: 'server_error',
      message: expect.stringMatching(/9999_newer\.sql of a newer version/) as string,
    },
  })

  await run(`delete from d1_migrations where name = '9999_newer.sql'`)
  expect((await request('/v1/models')).status).toBe(200)
  await run(`insert into d1_migrations (name) values ('9999_newer.sql')`)
  expect((await request('/v1/models')).status).toBe(200)
})

test('on Workers, plain text is not trusted in a database that was always encrypted', async () => {
  const { request, run } = await startWorker({
    UPSTREAMS: '[{"name":"demo","wire":"demo","models":["demo"],"quirks":{"delayMs":1}}]',
    STORAGE_KEYS: `k:${Buffer.alloc(32, 1).toString('base64')}`,
  })
  const answer = await request('/v1/responses', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', input: 'Hello' }),
  })
  const { id } = (await answer.json()) as { readonly id: string }
  expect((await request(`/v1/responses/${id}`)).status).toBe(200)
  await run(`update items set body = '{"type":"message","role":"assistant","content":[]}'`)
  const forged = await request(`/v1/responses/${id}`)
  expect(forged.status).toBe(500)
  expect(await forged.json()).toMatchObject({ error: { code: 'stored_data_untrusted' } })
})

const LOCAL = { tenant: 'local', user: null }

test('on Workers, each request for a response whose Worker has ended ends it, and so does the schedule', async () => {
  const { request, stores, runSchedule } = await startWorker({
    UPSTREAMS: '[{"name":"demo","wire":"demo","models":["demo"]}]',
  })
  const openTurn = async (replicaId: string, background = false): Promise<string> => {
    const turn = newTurn({ ...LOCAL, id: newTurnId(), replicaId, background })
    await stores.store.openTurn(turn)
    return turn.id
  }
  const loadState = async (id: string) => (await stores.store.loadChain(LOCAL, id))?.at(-1)?.state
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await request(path, { method: 'POST', headers, body: JSON.stringify(body) })
    const { error } = (await answer.json()) as { readonly error?: { readonly message: string } }
    return [answer.status, error?.message]
  }

  const read = await openTurn('ended')
  expect(await (await request(`/v1/responses/resp_${read}`)).json()).toMatchObject({
    status: 'failed',
  })

  const deleted = await openTurn('ended')
  const answer = await request(`/v1/responses/resp_${deleted}`, { method: 'DELETE' })
  expect([answer.status, await answer.json()]).toMatchObject([200, { deleted: true }])
  expect((await request(`/v1/responses/resp_${deleted}`)).status).toBe(404)

  const cancelled = await openTurn('ended', true)
  const cannotCancel = [400, 'Cannot cancel a failed response.']
  expect(await post(`/v1/responses/resp_${cancelled}/cancel`, {})).toEqual(cannotCancel)
  expect(await loadState(cancelled)).toBe('failed')

  const continued = await openTurn('ended')
  const next = { model: 'demo', input: 'And?', previous_response_id: `resp_${continued}` }
  const hasFailed = expect.stringMatching(/has failed, so it cannot be continued/) as string
  expect(await post('/v1/responses', next)).toEqual([400, hasFailed])
  expect(await loadState(continued)).toBe('failed')

  await stores.runs.renewReplica('living', 60_000, Date.now())
  const [orphan, other] = [await openTurn('ended'), await openTurn('living')]
  await runSchedule()
  expect([await loadState(orphan), await loadState(other)]).toEqual(['failed', 'open'])
})
