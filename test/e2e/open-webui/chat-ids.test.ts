/** Open WebUI's own ids: explain takes that of a message, and a chat is forgotten by its id. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway } from '../../support/gateway.ts'
import { nextNumber } from '../../support/open-webui/script.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  gateway = await startGateway({
    CONTEXT: 'replay',
    TRUST_USER_HEADERS: 'on',
    BACKSTORY_KEYS: 'ours:key-1,theirs:key-2',
  })
})
afterAll(() => gateway.close())

interface Asked {
  readonly chat: string
  readonly message: string
  readonly parent?: string
  readonly user?: string
  readonly content?: string
}

function headersOf(user: string, key = 'key-1') {
  return { authorization: `Bearer ${key}`, 'x-backstory-user': user }
}

async function ask({ chat, message, parent = '', user = 'ann', content = 'Hi' }: Asked) {
  const headers = {
    ...headersOf(user),
    'x-backstory-chat': chat,
    'x-backstory-message': message,
    'x-backstory-user-message': `q ${message}`,
    'x-backstory-user-parent': parent,
  }
  const question = `${content}\n/think hm\n/say ok`
  const body = { model: 'demo', messages: [{ role: 'user', content: question }], stream: true }
  return (await gateway.post('/v1/chat/completions', body, headers)).text()
}

async function send(method: string, path: string, user = 'ann', key = 'key-1') {
  const headers = headersOf(user, key)
  const response = await fetch(`${gateway.url}/v1${path}`, { method, headers })
  const text = await response.text()
  return { status: response.status, text, json: JSON.parse(text) as { turns?: number } }
}

const newChat = () => `chat-${nextNumber()}`

test('explain takes the id of a message together with that of its chat', async () => {
  const chat = newChat()
  await ask({ chat, message: 'm1', content: 'First' })
  await ask({ chat, message: 'm2', content: 'Second' })
  const explain = (query: string, user?: string, key?: string) =>
    send('GET', `/context/explain/${query}`, user, key)
  const first = await explain(`m1?chat=${chat}`)
  expect([first.status, first.text]).toEqual([200, expect.stringContaining('First')])
  expect((await explain(`m2?chat=${chat}`)).text).toContain('Second')
  expect((await explain(`m3?chat=${chat}`)).text).toMatch(/No request is kept for the message 'm3'/)
  expect((await explain('m1')).text).toMatch(/with \?chat= the id of a message/)
  expect((await explain(`m1?chat=${newChat()}`)).status).toBe(404)
  expect((await explain(`m1?chat=${chat}`, 'bob')).status).toBe(404)
  expect((await explain(`m1?chat=${chat}`, 'ann', 'key-2')).status).toBe(404)
})

test('a chat is deleted by its id, with all its first questions, and no other chat is', async () => {
  const [chat, other] = [newChat(), newChat()]
  await ask({ chat, message: 'm1', content: 'First' })
  await ask({ chat, message: 'm2', content: 'First, edited' })
  await ask({ chat: other, message: 'm3' })
  const remove = (id: string, user?: string, key?: string) =>
    send('DELETE', `/memory/chats/${id}`, user, key)
  expect((await remove(chat, 'bob')).status).toBe(404)
  expect((await remove(chat, 'ann', 'key-2')).status).toBe(404)
  expect((await remove(chat)).json.turns).toBe(2)
  expect((await remove(chat)).text).toContain(`Nothing is stored of the chat '${chat}'`)
  expect((await send('GET', `/context/explain/m1?chat=${chat}`)).status).toBe(404)
  expect((await send('GET', `/context/explain/m3?chat=${other}`)).status).toBe(200)
})
