/**
 * With `OPEN_WEBUI_JWT_SECRET`, an administrator's signed token may forget and explain for all users of the same API
 * key. A normal user may only do so for themselves, and a token is valid only together with its key.
 */
import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { DEMO } from '../server/stored-object-routes/databases.ts'

const SECRET = 'a secret that both sides know'

let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  gateway = await startGateway({
    ...DEMO,
    OPEN_WEBUI_JWT_SECRET: SECRET,
    BACKSTORY_KEYS: 'ours:key-1,theirs:key-2',
  })
})
afterAll(() => gateway.close())

interface Requester {
  readonly user: string
  readonly role?: string
  readonly key?: string
}

const ADMIN: Requester = { user: 'ada', role: 'admin' }
const ALICE: Requester = { user: 'alice' }
const BOB: Requester = { user: 'bob' }

function sign(user: string, role: string): string {
  const exp = Math.floor(Date.now() / 1000) + 300
  const text = [{ alg: 'HS256' }, { iss: 'open-webui', sub: user, role, exp }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${text}.${createHmac('sha256', SECRET).update(text).digest('base64url')}`
}

async function send(requester: Requester | null, method: string, path: string, body?: object) {
  const { user, role = 'user', key = 'key-1' } = requester ?? { user: '' }
  const response = await fetch(`${gateway.url}/v1${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${key}`,
      ...(requester === null ? {} : { 'x-openwebui-user-jwt': sign(user, role) }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const json = (await response.json()) as {
    id: string
    turns?: number
    error?: { message: string }
  }
  return { status: response.status, json, message: json.error?.message ?? '' }
}

async function answer(requester: Requester): Promise<string> {
  const { json } = await send(requester, 'POST', '/responses', { model: 'demo', input: 'Hi' })
  return json.id
}

test('an administrator explains the answers of all users of the key, others only their own', async () => {
  const id = await answer(ALICE)
  const path = `/context/explain/${id}`
  const statusOf = async (who: Requester | null, query = '') =>
    (await send(who, 'GET', path + query)).status
  expect(await statusOf(ALICE)).toBe(200)
  expect(await statusOf(ALICE, '?user=alice')).toBe(200)
  expect(await statusOf(ADMIN)).toBe(404)
  expect(await statusOf(ADMIN, '?user=alice')).toBe(200)
  expect(await statusOf(ADMIN, '?user=bob')).toBe(404)
  expect(await statusOf({ ...ADMIN, key: 'key-2' }, '?user=alice')).toBe(404)
  expect(await statusOf(BOB)).toBe(404)
  expect(await statusOf(BOB, '?user=alice')).toBe(403)
  expect(await statusOf(null, '?user=alice')).toBe(401)
  expect((await send(ADMIN, 'GET', path)).message).toMatch(/\?user=/)
})

test('an administrator forgets the chats of all users of the key, others only their own', async () => {
  const id = await answer(ALICE)
  const path = `/memory/turns/${id}`
  expect((await send(BOB, 'DELETE', path)).status).toBe(404)
  expect((await send(BOB, 'DELETE', `${path}?user=alice`)).status).toBe(403)
  expect((await send({ ...ADMIN, key: 'key-2' }, 'DELETE', path)).status).toBe(404)
  expect((await send(ADMIN, 'DELETE', `${path}?user=bob`)).status).toBe(404)
  expect((await send(ALICE, 'GET', `/responses/${id}`)).status).toBe(200)
  expect((await send(ADMIN, 'DELETE', path)).json.turns).toBe(1)
  expect((await send(ALICE, 'GET', `/responses/${id}`)).status).toBe(404)
})

test('an administrator forgets a user of the key, others only themselves', async () => {
  const id = await answer(ALICE)
  const path = '/memory/users/alice'
  const refused = await send(BOB, 'DELETE', path)
  expect([refused.status, refused.message]).toEqual([403, expect.stringMatching(/administrator/)])
  expect((await send({ ...ADMIN, key: 'key-2' }, 'DELETE', path)).json.turns).toBe(0)
  const unsigned = await send(null, 'DELETE', path)
  expect([unsigned.status, unsigned.message]).toEqual([
    401,
    expect.stringMatching(/`role: "admin"`/),
  ])
  expect((await send(ALICE, 'GET', `/responses/${id}`)).status).toBe(200)
  expect((await send(ADMIN, 'DELETE', path)).json.turns).toBe(2)
  expect((await send(ALICE, 'GET', `/responses/${id}`)).status).toBe(404)
})

test('an administrator does not read the answers of other users by other routes', async () => {
  const id = await answer(ALICE)
  expect((await send(ADMIN, 'GET', `/responses/${id}?user=alice`)).status).toBe(404)
})

test.each(['resp_', 'req_', 'chatcmpl-', 'chatcmpl_', '', '['])(
  'explain and forget take the id of an answer as %s…',
  async (prefix) => {
    const turnId = (await answer(ALICE)).replace('resp_', '')
    const id = encodeURIComponent(prefix === '[' ? `[${turnId}]: #` : prefix + turnId)
    expect((await send(ALICE, 'GET', `/context/explain/${id}`)).status).toBe(200)
    expect((await send(ALICE, 'DELETE', `/memory/turns/${id}`)).json.turns).toBe(1)
  },
)
