/** The Worker's check of its database before the first request. */
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { createTestHarness } from 'wrangler'
import type { D1Binding } from '../../src/store/database/d1-engine.ts'

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
