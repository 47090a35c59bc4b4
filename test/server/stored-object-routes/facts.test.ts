/** Routes to create, read, search and delete facts. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway } from '../../support/gateway.ts'
import { DEMO } from './databases.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  const keys = 'ours:key-1,theirs:key-2'
  gateway = await startGateway({ ...DEMO, BACKSTORY_KEYS: keys, TRUST_USER_HEADERS: 'on' })
})
afterAll(() => gateway.close())

interface Who {
  readonly key?: string
  readonly user?: string | null
}

let user: string
let count = 0
beforeEach(() => {
  user = `user-${(count += 1)}`
})

async function send(method: string, path: string, body?: unknown, who: Who = {}) {
  const { key = 'key-1', user: name = user } = who
  const response = await fetch(`${gateway.url}/v1/memory/facts${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(name === null ? {} : { 'x-backstory-user': name }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Body }
}

interface Body {
  readonly id: string
  readonly data: readonly { readonly id: string; readonly text: string }[]
  readonly has_more: boolean
  readonly last_id: string
  readonly error?: { readonly code: string; readonly param: string; readonly message: string }
}

const CAT = 'The cat is called Tom'
const textsOf = ({ body }: { readonly body: Body }) => body.data.map(({ text }) => text)

describe('requests to create, read and delete a fact', () => {
  test('a fact can be created, read and deleted (C59)', async () => {
    const until = Math.floor(Date.now() / 1000) + 1000
    const said = { text: ` ${CAT} `, area: 'pets', importance: 0.7, valid_until: until }
    const { status, body } = await send('POST', '', said)
    expect(status).toBe(200)
    expect(body).toEqual({
      id: expect.stringMatching(/^fact_/) as string,
      object: 'memory.fact',
      created_at: expect.any(Number) as number,
      text: CAT,
      area: 'pets',
      importance: 0.7,
      scope: 'user',
      conversation: null,
      valid_until: until,
      used_at: expect.any(Number) as number,
      use_count: 0,
      source: null,
    })
    expect(await send('GET', `/${body.id}`)).toEqual({ status: 200, body })
    expect(await send('DELETE', `/${body.id}`)).toEqual({
      status: 200,
      body: { id: body.id, object: 'memory.fact.deleted', deleted: true },
    })
    expect((await send('GET', `/${body.id}`)).status).toBe(404)
    expect((await send('DELETE', `/${body.id}`)).status).toBe(404)
  })

  test('a fact that is created a second time is stored once, with its first id and text and its new importance (C59)', async () => {
    const { body } = await send('POST', '', { text: CAT })
    const again = await send('POST', '', { text: 'The CAT is called Tom!', importance: 1 })
    expect(again.body).toMatchObject({ id: body.id, text: CAT, importance: 1 })
    expect(textsOf(await send('GET', ''))).toEqual([CAT])
  })

  test('a fact of one conversation is found only by searches for this conversation, and deleted with it', async () => {
    const headers = { authorization: 'Bearer key-1', 'x-backstory-user': user }
    const made = await gateway.post('/v1/conversations', {}, headers)
    const { id } = (await made.json()) as { readonly id: string }
    const { body } = await send('POST', '', { text: CAT, conversation: id })
    expect(body).toMatchObject({ scope: 'conversation', conversation: id })
    expect(textsOf(await send('GET', '?query=cat'))).toEqual([])
    expect(textsOf(await send('GET', `?query=cat&conversation=${id}`))).toEqual([CAT])
    expect(textsOf(await send('GET', ''))).toEqual([CAT])
    await fetch(`${gateway.url}/v1/conversations/${id}`, { method: 'DELETE', headers })
    expect(textsOf(await send('GET', ''))).toEqual([])
  })
})

describe('requests to list and search facts', () => {
  test('facts are listed in pages', async () => {
    const texts = ['One cat is black', 'Two dogs are brown', 'Three birds sing']
    for (const text of texts) await send('POST', '', { text })
    const first = await send('GET', '?limit=2&order=asc')
    expect(textsOf(first)).toEqual(texts.slice(0, 2))
    expect(first.body.has_more).toBe(true)
    const second = await send('GET', `?limit=2&order=asc&after=${first.body.last_id}`)
    expect(textsOf(second)).toEqual(texts.slice(2))
    expect(second.body.has_more).toBe(false)
    expect(textsOf(await send('GET', ''))).toEqual(texts.toReversed())
  })

  test('a search for facts returns the best matches first', async () => {
    const texts = ['The dog is called Rex', 'The cat is called Tom', 'It rains in Graz']
    for (const text of texts) await send('POST', '', { text })
    const found = textsOf(await send('GET', '?query=what+is+the+cat+called'))
    expect(found[0]).toBe(CAT)
    expect(found).not.toContain('It rains in Graz')
    expect(textsOf(await send('GET', '?query=cat+dog&limit=1'))).toHaveLength(1)
  })

  test('all facts of a user can be deleted with one request', async () => {
    await send('POST', '', { text: CAT })
    await send('POST', '', { text: CAT }, { user: `${user}-2` })
    const deleted = await send('DELETE', '')
    expect(deleted.body).toEqual({ object: 'memory.facts.deleted', deleted: true, facts: 1 })
    expect(textsOf(await send('GET', ''))).toEqual([])
    expect(textsOf(await send('GET', '', undefined, { user: `${user}-2` }))).toEqual([CAT])
  })
})

describe('rejection of invalid requests about facts', () => {
  test.each([
    [{}, 'text', 'missing_required_parameter'],
    [{ text: 7 }, 'text', 'invalid_type'],
    [{ text: 'too short' }, 'text', 'string_below_min_length'],
    [{ text: 'x'.repeat(501) }, 'text', 'string_above_max_length'],
    [{ text: '🙂'.repeat(20) }, 'text', 'invalid_value'],
    [{ text: CAT, area: '' }, 'area', 'string_below_min_length'],
    [{ text: CAT, area: 'x'.repeat(65) }, 'area', 'string_above_max_length'],
    [{ text: CAT, area: {} }, 'area', 'invalid_type'],
    [{ text: CAT, importance: 1.1 }, 'importance', 'decimal_above_max_value'],
    [{ text: CAT, importance: 'much' }, 'importance', 'invalid_type'],
    [{ text: CAT, valid_until: 1 }, 'valid_until', 'invalid_value'],
    [{ text: CAT, valid_until: 1e300 }, 'valid_until', 'invalid_value'],
    [{ text: CAT, valid_until: 'soon' }, 'valid_until', 'invalid_type'],
    [{ text: CAT, conversation: 'resp_1' }, 'conversation', 'invalid_value'],
    [{ text: CAT, conversation: 7 }, 'conversation', 'invalid_type'],
    [{ text: CAT, importence: 1 }, 'importence', 'unknown_parameter'],
  ])('a request to create a fact with the body %j is rejected', async (body, param, code) => {
    expect(await send('POST', '', body)).toMatchObject({
      status: 400,
      body: { error: { param, code } },
    })
    expect(textsOf(await send('GET', ''))).toEqual([])
  })

  test.each([
    ['?limit=0', 'limit'],
    ['?limit=many', 'limit'],
    ['?order=up', 'order'],
    ['?after=fact_1', 'after'],
    ['?query=', 'query'],
    ['?query=%F0%9F%99%82', 'query'],
    ['?query=cat&after=fact_1', 'after'],
    ['?query=cat&limit=101', 'limit'],
    ['?query=cat&conversation=1', 'conversation'],
    ['/resp_1', 'id'],
  ])('the request GET %s for facts is rejected', async (path, param) => {
    expect(await send('GET', path)).toMatchObject({ status: 400, body: { error: { param } } })
  })

  test('a new fact for an unknown conversation is rejected', async () => {
    const { status } = await send('POST', '', { text: CAT, conversation: 'conv_1' })
    expect(status).toBe(404)
  })
})

test("a request for another user's fact gets the same error as one for a fact that never existed (C42)", async () => {
  const { body } = await send('POST', '', { text: CAT })
  for (const who of [{ user: 'somebody' }, { user: null }, { key: 'key-2' }]) {
    for (const method of ['GET', 'DELETE']) {
      const { status, body: answer } = await send(method, `/${body.id}`, undefined, who)
      expect(status).toBe(404)
      expect(answer.error?.message).toBe(`Fact with id '${body.id}' not found.`)
    }
    expect(textsOf(await send('GET', '', undefined, who))).toEqual([])
    expect(textsOf(await send('GET', '?query=cat', undefined, who))).toEqual([])
    const after = await send('GET', `?after=${body.id}`, undefined, who)
    expect(after.status).toBe(400)
  }
  expect(textsOf(await send('GET', ''))).toEqual([CAT])
})

test("deleting a user deletes the user's facts", async () => {
  await send('POST', '', { text: CAT })
  const headers = { authorization: 'Bearer key-1' }
  await fetch(`${gateway.url}/v1/memory/users/${user}`, { method: 'DELETE', headers })
  expect(textsOf(await send('GET', ''))).toEqual([])
})

test('a request about facts gets status 503 if the database does not answer', async () => {
  const fail = () => Promise.reject(new Error('The connection was lost.'))
  const { facts } = gateway.dependencies
  const { searchFacts } = facts
  Object.assign(facts, { searchFacts: fail })
  expect(await send('POST', '', { text: CAT })).toMatchObject({
    status: 503,
    body: { error: { code: 'store_unavailable' } },
  })
  Object.assign(facts, { searchFacts })
})
