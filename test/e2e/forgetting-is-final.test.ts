/**
 * Somebody forgets while something of theirs is being written behind an answer: a summary, the facts
 * in it, what was observed. None of it survives, and what comes later is kept again.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, upstreams } from '../support/gateway.ts'
import { startScribe, type Scribe } from '../support/scribe.ts'

let scribe: Scribe
let gateway: Awaited<ReturnType<typeof startGateway>>
let release: () => void
beforeAll(async () => {
  scribe = await startScribe()
  const account = { name: 'up', wire: 'chat', baseUrl: scribe.url, apiKey: 'k' }
  gateway = await startGateway({ ...upstreams(account), TRUST_USER_HEADERS: 'on' })
})
afterAll(async () => {
  await gateway.close()
  await scribe.close()
})
beforeEach(() => {
  scribe.received.splice(0)
  release = scribe.holdBack()
  gateway.log.splice(0)
})

const backstory = {
  summaries: { trigger: 'turns', above: 2, keep_turns: 1, keep_tokens: 0 },
  layers: { facts: true, observations: true, scope: 'user' },
}
const LONG = 'I moved to Chur last year. '.repeat(400)

/** A chat that its client keeps, of some turns at once. */
const talkOf = (name: string) =>
  [1, 2, 3].flatMap((turn) => [
    { role: 'user', content: `q${turn} of ${name} with PASSWORD-12345678 ${LONG}` },
    { role: 'assistant', content: `a${turn} of ${name}` },
  ])

async function ask(user: string, path: string, fields: object): Promise<string> {
  const body = { model: 'm', backstory, ...fields }
  const response = await gateway.post(path, body, { 'x-backstory-user': user })
  expect(response.status).toBe(200)
  return response.text()
}

async function call(method: string, path: string, user: string): Promise<unknown> {
  const headers = { 'x-backstory-user': user }
  return (await fetch(gateway.url + path, { method, headers })).json()
}

const done = (event: string) => gateway.log.filter((line) => line.event === event).length
const written = async (): Promise<void> => {
  release()
  await expect.poll(() => done('summarised')).toBe(1)
}
const textSent = () => JSON.stringify(scribe.asked().at(-1))

const ASKING: readonly (readonly [string, string, (name: string) => object])[] = [
  [
    'a chat that is sent as a whole',
    '/v1/chat/completions',
    (name) => ({ messages: [...talkOf(name), { role: 'user', content: `q4 of ${name}` }] }),
  ],
  [
    'a response that is kept',
    '/v1/responses',
    (name) => ({ input: [...talkOf(name), { role: 'user', content: `q4 of ${name}` }] }),
  ],
]

test.each(ASKING)('nothing survives of %s', async (_, path, fields) => {
  const user = `ann ${path}`
  await ask(user, path, fields(user))
  await call('DELETE', `/v1/memory/users/${encodeURIComponent(user)}`, user)
  expect(done('summarised')).toBe(0)
  await written()
  await expect.poll(() => done('layer-not-kept')).toBe(1)
  await expect.poll(() => done('facts-not-kept')).toBe(1)
  expect(await call('GET', '/v1/memory/facts', user)).toMatchObject({ data: [] })
  await ask(user, path, fields(user))
  expect(textSent()).toContain(`q1 of ${user}`)
  expect(textSent()).not.toMatch(/\[Summary|<observations|<facts/)
  // What was begun since is kept as ever.
  await expect.poll(() => done('summarised')).toBe(2)
  await expect.poll(() => done('observed')).toBe(1)
  await expect
    .poll(() => call('GET', '/v1/memory/facts', user))
    .toMatchObject({ data: [{ text: 'PASSWORD-12345678' }] })
})

test('nothing survives of the first answer of a thread that is forgotten', async () => {
  const user = 'bob'
  const [, path, fields] = ASKING[1] ?? []
  const { id } = JSON.parse(await ask(user, path ?? '', fields?.(user) ?? {})) as { id: string }
  expect(await call('DELETE', `/v1/memory/turns/${id}`, user)).toMatchObject({ deleted: true })
  await written()
  await expect.poll(() => done('layer-not-kept')).toBe(1)
  await expect.poll(() => done('facts-not-kept')).toBe(1)
  expect(await call('GET', '/v1/memory/facts', user)).toMatchObject({ data: [] })
})

test('nothing survives of a conversation that is deleted', async () => {
  const headers = { 'x-backstory-user': 'eve' }
  const made = await gateway.post('/v1/conversations', {}, headers)
  const { id } = (await made.json()) as { id: string }
  const [, path, fields] = ASKING[1] ?? []
  await ask('eve', path ?? '', { ...fields?.('eve'), conversation: id })
  expect(await call('DELETE', `/v1/conversations/${id}`, 'eve')).toMatchObject({ deleted: true })
  await written()
  await expect.poll(() => done('layer-not-kept')).toBe(1)
  await expect.poll(() => done('facts-not-kept')).toBe(1)
  expect(await call('GET', '/v1/memory/facts', 'eve')).toMatchObject({ data: [] })
})
