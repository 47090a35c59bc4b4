/**
 * The functions for Open WebUI (`.github/open-webui/backstory.py`), run by Python against a real gateway. Only what Open
 * WebUI itself would do is a stand-in.
 */
import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isObject, type JsonObject } from '../../src/core/json/json.ts'
import { startGateway } from '../support/gateway.ts'
import { nextNumber } from '../support/open-webui/script.ts'

const FILE = fileURLToPath(new URL('../../.github/open-webui/backstory.py', import.meta.url))
const RUNNER = fileURLToPath(new URL('run-functions.py', import.meta.url))
const SECRET = 'a secret that both sides know'

const hasPython = spawnSync('python3', ['--version']).status === 0

let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  gateway = await startGateway({
    CONTEXT: 'replay',
    OPEN_WEBUI_JWT_SECRET: SECRET,
    BACKSTORY_KEYS: 'openwebui:key-1',
  })
})
afterAll(() => gateway.close())

interface Run {
  readonly id: 'backstory_why' | 'backstory_forget' | 'backstory_headers'
  readonly method: 'action' | 'event' | 'inlet'
  readonly arguments: JsonObject
  readonly valves?: JsonObject
  readonly config?: JsonObject
}

interface Result {
  readonly kind: string
  readonly returned: unknown
  readonly events: readonly JsonObject[]
  readonly config: JsonObject
}

/** The connection of Open WebUI to the gateway. */
function connection(headers: JsonObject = { 'X-Backstory-Chat': '{{CHAT_ID}}' }): JsonObject {
  return {
    'openai.api_base_urls': ['http://127.0.0.1:9/v1', `${gateway.url}/v1`],
    'openai.api_keys': ['sk-other', 'key-1'],
    'openai.api_configs': { '0': { enable: true }, '1': { enable: true, headers } },
  }
}

/** One process for all tests, because Python takes a second to start. */
let python: ChildProcessWithoutNullStreams
let results: AsyncIterator<string>
beforeAll(() => {
  if (!hasPython) return
  const env = {
    ...process.env,
    FORWARD_USER_INFO_HEADER_JWT_SECRET: SECRET,
    PYTHONDONTWRITEBYTECODE: '1',
    // Python would send requests to this machine through a proxy of the environment.
    NO_PROXY: '127.0.0.1',
    no_proxy: '127.0.0.1',
  }
  python = spawn('python3', [RUNNER], { env })
  results = createInterface(python.stdout)[Symbol.asyncIterator]()
})
afterAll(() => void (hasPython && python.stdin.end()))

async function run(called: Run): Promise<Result> {
  python.stdin.write(`${JSON.stringify({ config: connection(), ...called, file: FILE })}\n`)
  const line = await results.next()
  const result = JSON.parse(line.done === true ? '{"error":"Python has ended."}' : line.value) as
    | Result
    | { readonly error: string }
  if ('error' in result) throw new Error(result.error)
  return result
}

function signUser(user: string): string {
  const exp = Math.floor(Date.now() / 1000) + 300
  const text = [{ alg: 'HS256' }, { iss: 'open-webui', sub: user, role: 'user', exp }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${text}.${createHmac('sha256', SECRET).update(text).digest('base64url')}`
}

/** Asks the demo model in a chat of Ann, and returns the id of the answer's turn. */
async function ask(chat: string, message: string): Promise<string> {
  const headers = {
    authorization: 'Bearer key-1',
    'x-openwebui-user-jwt': signUser('ann'),
    'x-backstory-chat': chat,
    'x-backstory-message': message,
    'x-backstory-user-parent': '',
  }
  const content = `What about ${chat}?\n/think hm\n/say ok`
  const messages = [{ role: 'user', content }]
  const response = await gateway.post('/v1/chat/completions', { model: 'demo', messages }, headers)
  await response.text()
  return (response.headers.get('x-request-id') ?? '').replace('req_', '')
}

async function isStored(turnId: string): Promise<boolean> {
  const owner = { tenant: 'openwebui', user: 'ann' }
  return (await gateway.dependencies.store.loadChain(owner, turnId)) !== null
}

const dataOf = (event: JsonObject | undefined) => {
  const data = event?.['data']
  return isObject(data) ? data : {}
}

describe.skipIf(!hasPython)('the functions for Open WebUI (skipped without python3)', () => {
  const why = (chat: string, message: string, more: Partial<Run> = {}, user = 'ann') =>
    run({
      id: 'backstory_why',
      method: 'action',
      arguments: {
        body: { chat_id: chat, id: message, messages: [{ id: message, content: 'ok' }] },
        __user__: { id: user, name: 'X', email: 'x@example.com', role: 'user' },
        __model__: { id: 'demo', urlIdx: 1 },
      },
      ...more,
    })

  test('the button "Why?" shows the explanation of an answer in a dialog, not in the chat', async () => {
    const chat = `<b>${nextNumber()}</b>`
    await ask(chat, 'm1')
    const { kind, returned, events } = await why(chat, 'm1')
    expect([kind, returned, events.length]).toEqual(['Action', null, 1])
    expect(events[0]?.['type']).toBe('confirmation')
    const { message } = dataOf(events[0])
    expect(message).toMatch(/^<pre [^>]*>demo at demo \(demo\)/)
    expect(message).toContain(`What about ${chat.replaceAll('<', '&lt;').replaceAll('>', '&gt;')}?`)
  })

  test('the button "Why?" finds an answer by the marker in its text, too', async () => {
    const turnId = await ask(`chat-${nextNumber()}`, 'm1')
    const messages = [{ id: 'other', content: `[${turnId}]: #\n\nok` }]
    const body = { chat_id: 'imported', id: 'other', messages }
    const { events } = await why('imported', 'other', {
      arguments: { body, __user__: { id: 'ann', role: 'user' } },
    })
    expect(dataOf(events[0])['message']).toMatch(/^<pre/)
  })

  test('the button "Why?" has the rights of the user who presses it', async () => {
    const chat = `chat-${nextNumber()}`
    await ask(chat, 'm1')
    const { events } = await why(chat, 'm1', {}, 'bob')
    expect(events.map(({ type }) => type)).toEqual(['notification'])
    expect(dataOf(events[0])['content']).toMatch(/No request is kept for the message 'm1'/)
  })

  test('the button "Why?" says what to do without a connection or a gateway', async () => {
    const unknown = await why('c', 'm', { config: connection({}) })
    expect(dataOf(unknown.events[0])['content']).toMatch(/Set gateway_url and api_key/)
    const valves = { gateway_url: 'http://127.0.0.1:9/v1', api_key: 'k' }
    const silent = await why('c', 'm', { valves })
    expect(dataOf(silent.events[0])['content']).toMatch(/could not be reached/)
  })

  const deleted = (name: string, id: string, more: JsonObject = {}): Run => ({
    id: 'backstory_forget',
    method: 'event',
    arguments: {
      event: { event: name, subject: { type: 'x', id }, actor: { id: 'root' }, ...more },
    },
  })

  test('a chat that is deleted in Open WebUI is forgotten, also by an administrator, and no other chat is', async () => {
    const [chat, other] = [`chat-${nextNumber()}`, `chat-${nextNumber()}`]
    const [turnId, otherId] = [await ask(chat, 'm1'), await ask(other, 'm2')]
    const { kind } = await run(deleted('chat.deleted', chat, { data: { owner_id: 'ann' } }))
    expect(kind).toBe('Event')
    expect([await isStored(turnId), await isStored(otherId)]).toEqual([false, true])
    // Nothing is stored of it any more.
    await run(deleted('chat.deleted', chat, { data: { owner_id: 'ann' } }))
  })

  test('a user who is deleted in Open WebUI is forgotten; one who deletes all chats only if a valve says so', async () => {
    const turnId = await ask(`chat-${nextNumber()}`, 'm1')
    await run(deleted('chat.deleted_all', 'ann'))
    await run(deleted('chat.archived', 'ann'))
    expect(await isStored(turnId)).toBe(true)
    await run({
      ...deleted('chat.deleted_all', 'ann'),
      valves: { forget_users_without_chats: true },
    })
    expect(await isStored(turnId)).toBe(false)
    const laterId = await ask(`chat-${nextNumber()}`, 'm1')
    await run(deleted('user.deleted', 'ann'))
    expect(await isStored(laterId)).toBe(false)
  })

  test('the filter adds the headers that the README recommends to the connection, and keeps others', async () => {
    const inlet = (
      config: JsonObject,
      valves: JsonObject = { gateway_url: `${gateway.url}/v1/` },
    ) =>
      run({
        id: 'backstory_headers',
        method: 'inlet',
        arguments: { body: { messages: [] } },
        config,
        valves,
      })
    const own = { 'x-backstory-task': 'mine', 'X-Other': '1' }
    const { kind, returned, config } = await inlet(connection(own))
    expect([kind, returned]).toEqual(['Filter', { messages: [] }])
    const added = {
      'X-Backstory-Chat': '{{CHAT_ID}}',
      'X-Backstory-Message': '{{MESSAGE_ID}}',
      'X-Backstory-User-Message': '{{USER_MESSAGE_ID}}',
      'X-Backstory-User-Parent': '{{USER_MESSAGE_PARENT_ID}}',
      'X-Backstory-User': '{{USER_ID}}',
    }
    expect(config['openai.api_configs']).toEqual({
      '0': { enable: true },
      '1': { enable: true, headers: { ...own, ...added } },
    })
    expect((await inlet(config)).config).toEqual(config)
    expect((await inlet(connection(own), {})).config).toEqual(connection(own))
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
    const [recommended = '{}'] = /\{"X-Backstory-Chat".*\}/.exec(readme) ?? []
    const all = { ...added, 'X-Backstory-Task': '{{TASK}}' }
    expect(all).toMatchObject(JSON.parse(recommended) as object)
  })
})
