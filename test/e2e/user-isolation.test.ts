/**
 * Isolation of users with the same key, at every endpoint with an id: an object of another user gets the same
 * answer as one that never existed, and stays unchanged.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DEMO } from '../server/stored-object-routes/databases.ts'
import { startGateway } from '../support/gateway.ts'
import { connect } from '../support/socket-client.ts'

type Gateway = Awaited<ReturnType<typeof startGateway>>
type Method = 'GET' | 'POST' | 'DELETE'

const UNKNOWN = '01K9Z6N1N0ZZZZZZZZZZ'
const OTHERS = ['bob', null] as const

/** The ids of Alice's objects, by the names that the requests below use. */
interface Ids {
  readonly response: string
  readonly run: string
  readonly stream: string
  readonly chat: string
  readonly conversation: string
  readonly item: string
}

let gateway: Gateway
let ids: Ids
beforeAll(async () => {
  gateway = await startGateway({ ...DEMO, TRUST_USER_HEADERS: 'on' })
  ids = await createObjectsOfAlice()
})
afterAll(() => gateway.close())

async function ask(who: string | null, method: Method, path: string, body: unknown = {}) {
  const headers = { 'content-type': 'application/json', ...userHeader(who) }
  const sent = method === 'POST' ? { body: JSON.stringify(body) } : {}
  const response = await fetch(`${gateway.url}/v1${path}`, { method, headers, ...sent })
  return { status: response.status, text: await response.text() }
}

function userHeader(who: string | null): Readonly<Record<string, string>> {
  return who === null ? {} : { 'x-backstory-user': who }
}

async function createObject(path: string, body: object): Promise<string> {
  const { status, text } = await ask('alice', 'POST', path, body)
  expect([status, text]).toEqual([200, text])
  return (/"id":\s*"((?:resp_|chatcmpl-|conv_)\w+)"/.exec(text) ?? [])[1] ?? ''
}

async function createObjectsOfAlice(): Promise<Ids> {
  const request = { model: 'demo', input: 'Hi\n/say A secret.' }
  const item = { type: 'message', role: 'user', content: 'A secret.' }
  const conversation = await createObject('/conversations', { items: [item] })
  const items = await ask('alice', 'GET', `/conversations/${conversation}/items`)
  const messages = [{ role: 'user', content: 'Hi\n/say A secret.' }]
  return {
    response: await createObject('/responses', request),
    run: await createObject('/responses', { ...request, background: true }),
    stream: await createObject('/responses', { ...request, background: true, stream: true }),
    chat: await createObject('/chat/completions', { model: 'demo', messages, store: true }),
    conversation,
    item: (JSON.parse(items.text) as { readonly data: readonly { readonly id: string }[] }).data[0]
      ?.id as string,
  }
}

type Kind = keyof Ids
type RequestCase = readonly [name: string, Kind, Method, path: (id: string) => string, body?: Body]
type Body = (id: string) => object

const next = (fields: (id: string) => object) => (id: string) => ({
  model: 'demo',
  input: 'And?',
  ...fields(id),
})

/** The requests that change something are last. */
const REQUESTS: readonly RequestCase[] = [
  ['a response', 'response', 'GET', (id) => `/responses/${id}`],
  ['the input of a response', 'response', 'GET', (id) => `/responses/${id}/input_items`],
  ['the stream of a response', 'stream', 'GET', (id) => `/responses/${id}?stream=true`],
  [
    'the rest of its stream',
    'stream',
    'GET',
    (id) => `/responses/${id}?stream=true&starting_after=1`,
  ],
  [
    'a previous response',
    'response',
    'POST',
    () => '/responses',
    next((id) => ({ previous_response_id: id })),
  ],
  [
    'a previous response of a background run',
    'response',
    'POST',
    () => '/responses',
    next((id) => ({ previous_response_id: id, background: true, stream: true })),
  ],
  [
    'a previous response in a dry run',
    'response',
    'POST',
    () => '/context/explain',
    next((id) => ({ previous_response_id: id })),
  ],
  [
    'a referenced item',
    'item',
    'POST',
    () => '/responses',
    next((id) => ({ input: [{ type: 'item_reference', id }] })),
  ],
  [
    'an item reference for a conversation',
    'item',
    'POST',
    () => '/conversations',
    (id) => ({ items: [{ type: 'item_reference', id }] }),
  ],
  ['a chat completion', 'chat', 'GET', (id) => `/chat/completions/${id}`],
  ['the messages of a chat', 'chat', 'GET', (id) => `/chat/completions/${id}/messages`],
  ['a conversation', 'conversation', 'GET', (id) => `/conversations/${id}`],
  ['the items of a conversation', 'conversation', 'GET', (id) => `/conversations/${id}/items`],
  [
    'the conversation of a response',
    'conversation',
    'POST',
    () => '/responses',
    next((id) => ({ conversation: id })),
  ],
  [
    'the conversation of an unstored response',
    'conversation',
    'POST',
    () => '/responses',
    next((id) => ({ conversation: id, store: false })),
  ],
  [
    'a conversation for a new item',
    'conversation',
    'POST',
    (id) => `/conversations/${id}/items`,
    () => ({ items: [{ type: 'message', role: 'user', content: 'x' }] }),
  ],
  [
    'its metadata update',
    'conversation',
    'POST',
    (id) => `/conversations/${id}`,
    () => ({ metadata: { a: '1' } }),
  ],
  [
    'the metadata update of a chat',
    'chat',
    'POST',
    (id) => `/chat/completions/${id}`,
    () => ({ metadata: { a: '1' } }),
  ],
  ['the deletion of a chat', 'chat', 'DELETE', (id) => `/chat/completions/${id}`],
  ['the deletion of a response', 'response', 'DELETE', (id) => `/responses/${id}`],
  ['the deletion of a conversation', 'conversation', 'DELETE', (id) => `/conversations/${id}`],
]

const REQUEST_CASES = REQUESTS.map(([name, kind, method, path, body = () => ({})]) => ({
  name,
  kind,
  method,
  path,
  body,
}))

const unknown = (id: string): string => id.replace(/[0-9A-Z]{20}/, UNKNOWN)
const withoutIds = (text: string): string => text.replaceAll(/[0-9A-Z]{20}/g, '…')

describe.each(OTHERS)('requests of %s for objects of the user Alice', (who) => {
  test.each(REQUEST_CASES)(
    '$name of another user is not found',
    async ({ kind, method, path, body }) => {
      const id = ids[kind]
      const theirs = await ask(who, method, path(id), body(id))
      const missing = await ask(who, method, path(unknown(id)), body(unknown(id)))
      expect(withoutIds(theirs.text)).toBe(withoutIds(missing.text))
      expect(theirs.status).toBe(missing.status)
      expect([400, 404]).toContain(theirs.status)
      expect(theirs.text).not.toContain('A secret')
    },
  )

  test('an item in a conversation of another user can be neither retrieved nor deleted', async () => {
    for (const method of ['GET', 'DELETE'] as const) {
      const { status } = await ask(
        who,
        method,
        `/conversations/${ids.conversation}/items/${ids.item}`,
      )
      expect(status).toBe(404)
    }
  })

  test('a response of another user cannot be cancelled', async () => {
    const { status, text } = await ask(who, 'POST', `/responses/${ids.run}/cancel`)
    const never = await ask(who, 'POST', `/responses/${unknown(ids.run)}/cancel`)
    expect([status, withoutIds(text)]).toEqual([404, withoutIds(never.text)])
  })

  test('no list contains objects of another user', async () => {
    const { status, text } = await ask(who, 'GET', '/chat/completions?limit=100')
    expect([status, (JSON.parse(text) as { readonly data: unknown }).data]).toEqual([200, []])
  })

  test('a response of another user cannot be continued over a WebSocket', async () => {
    const client = await connect(gateway.url, { headers: userHeader(who) })
    const create = { type: 'response.create', model: 'demo', input: 'And?' }
    const { refusal } = await client.ask({ ...create, previous_response_id: ids.response })
    expect(refusal).toBe('400 previous_response_not_found')
    const reference = [{ type: 'item_reference', id: ids.item }]
    expect((await client.ask({ ...create, input: reference })).refusal).toMatch(/^404/)
    expect((await client.ask({ ...create, conversation: ids.conversation })).refusal).toMatch(
      /^404/,
    )
    client.socket.close()
  })
})

describe('objects of Alice after the requests of other users', () => {
  test("a user's chat is listed for that user, without metadata from other users", async () => {
    const { text } = await ask('alice', 'GET', '/chat/completions')
    expect(JSON.parse(text)).toMatchObject({ data: [{ id: ids.chat, metadata: {} }] })
  })

  test('a WebSocket continues a response of the same user', async () => {
    const client = await connect(gateway.url, { headers: userHeader('alice') })
    const create = { type: 'response.create', model: 'demo', input: 'And?' }
    const { refusal, faults } = await client.ask({ ...create, previous_response_id: ids.response })
    expect([refusal, faults]).toEqual([null, []])
    client.socket.close()
  })

  test.each(REQUEST_CASES)(
    '$name is still found by its user after requests of other users',
    async ({ kind, method, path, body }) => {
      const { status, text } = await ask('alice', method, path(ids[kind]), body(ids[kind]))
      expect([status, text]).toEqual([200, text])
    },
  )
})
