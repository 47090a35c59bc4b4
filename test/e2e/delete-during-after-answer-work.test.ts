/**
 * A user deletes data while the gateway is still writing after an answer: summaries, their facts and
 * observations of the deleted data are not stored. Later ones are.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, upstreams } from '../support/gateway.ts'
import {
  startSummarizingUpstream,
  type SummarizingUpstream,
} from '../support/summarizing-upstream.ts'

let summarizer: SummarizingUpstream
let gateway: Awaited<ReturnType<typeof startGateway>>
let release: () => void
beforeAll(async () => {
  summarizer = await startSummarizingUpstream()
  const account = { name: 'up', wire: 'chat', baseUrl: summarizer.url, apiKey: 'k' }
  gateway = await startGateway({ ...upstreams(account), TRUST_USER_HEADERS: 'on' })
})
afterAll(async () => {
  await gateway.close()
  await summarizer.close()
})
beforeEach(() => {
  summarizer.received.splice(0)
  release = summarizer.delaySummaries()
  gateway.log.splice(0)
})

const backstory = {
  summaries: { trigger: 'turns', above: 2, keep_turns: 1, keep_tokens: 0 },
  layers: { facts: true, observations: true, scope: 'user' },
}
const LONG = 'I moved to Chur last year. '.repeat(400)

/** A chat of three turns that its client sends as a whole. */
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
const textSent = () => JSON.stringify(summarizer.answerPrompts().at(-1))

const ASKING: readonly (readonly [string, string, (name: string) => object])[] = [
  [
    'a chat that its client sends completely',
    '/v1/chat/completions',
    (name) => ({ messages: [...talkOf(name), { role: 'user', content: `q4 of ${name}` }] }),
  ],
  [
    'a stored response',
    '/v1/responses',
    (name) => ({ input: [...talkOf(name), { role: 'user', content: `q4 of ${name}` }] }),
  ],
]

test.each(ASKING)(
  'after-answer work that is running when its user is deleted stores nothing derived from %s',
  async (_, path, fields) => {
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
    // Work that starts after the deletion is stored as usual.
    await expect.poll(() => done('summarised')).toBe(2)
    await expect.poll(() => done('observed')).toBe(1)
    await expect
      .poll(() => call('GET', '/v1/memory/facts', user))
      .toMatchObject({ data: [{ text: 'PASSWORD-12345678' }] })
  },
)

test('after-answer work that is running when the thread of its turn is deleted stores nothing derived from the turn', async () => {
  const user = 'bob'
  const [, path, fields] = ASKING[1] ?? []
  const { id } = JSON.parse(await ask(user, path ?? '', fields?.(user) ?? {})) as { id: string }
  expect(await call('DELETE', `/v1/memory/turns/${id}`, user)).toMatchObject({ deleted: true })
  await written()
  await expect.poll(() => done('layer-not-kept')).toBe(1)
  await expect.poll(() => done('facts-not-kept')).toBe(1)
  expect(await call('GET', '/v1/memory/facts', user)).toMatchObject({ data: [] })
})

test('after-answer work that is running when its conversation is deleted stores nothing derived from the conversation', async () => {
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
