/** With the header `X-Backstory-Status: full`, Open WebUI shows what was restored, above each answer. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway } from '../../support/gateway.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  gateway = await startGateway({ CONTEXT: 'replay' })
})
afterAll(() => gateway.close())

const OPEN_WEBUI = { 'x-backstory-chat': 'c1' }
const FULL = { ...OPEN_WEBUI, 'x-backstory-status': 'full' }

async function ask(path: string, body: object, headers: Readonly<Record<string, string>>) {
  const response = await gateway.post(path, { model: 'demo', stream: true, ...body }, headers)
  const text = await response.text()
  const lines = text.split('\n').filter((line) => line.startsWith('data: '))
  const status = lines.filter((line) => line.includes('"event":{"type":"status"'))
  const answer = lines.flatMap(
    (line) => /"delta":\{"content":("(?:[^"\\]|\\.)*")/.exec(line)?.[1] ?? [],
  )
  return {
    status: response.status,
    text,
    lines,
    shown: status.map((line) => /"description":"([^"]*)"/.exec(line)?.[1]),
    answer: answer.map((json) => JSON.parse(json) as string).join(''),
  }
}

const user = (content: string) => ({ role: 'user', content })

test('each streamed answer to Open WebUI gets one full status line, before its end and outside its text', async () => {
  const first = await ask('/v1/chat/completions', { messages: [user('Hello')] }, FULL)
  expect(first.shown).toEqual(['Nothing restored · 0 % from cache'])
  expect(first.lines.at(-1)).toBe('data: [DONE]')
  expect(first.answer).not.toContain('restored')
  const messages = [user('Hello'), { role: 'assistant', content: first.answer }, user('And?')]
  const second = await ask('/v1/chat/completions', { messages }, FULL)
  expect(second.shown).toEqual(['1 thought restored · 0 % from cache'])
  const responses = await ask('/v1/responses', { input: messages }, FULL)
  expect(responses.shown).toEqual(['1 thought restored · 0 % from cache'])
})

test('no full status line is sent for a failed answer, for a task, to another client, or without the header', async () => {
  const path = '/v1/chat/completions'
  const asked = { messages: [user('Hello')] }
  const failed = await ask(path, { messages: [user('/say A\n/error B')] }, FULL)
  expect(failed.shown).toEqual([])
  expect((await ask(path, asked, OPEN_WEBUI)).shown).toEqual([])
  expect((await ask(path, asked, { ...FULL, 'x-backstory-task': 'title' })).shown).toEqual([])
  expect((await ask(path, asked, { 'x-backstory-status': 'full' })).shown).toEqual([])
  const json = await ask(path, { ...asked, stream: false }, FULL)
  expect(json.text).not.toContain('"event"')
})

test('another value of the header is rejected with the value to use', async () => {
  const sent = { ...OPEN_WEBUI, 'x-backstory-status': 'all' }
  const { status, text } = await ask('/v1/chat/completions', { messages: [user('Hello')] }, sent)
  expect([status, text]).toEqual([400, expect.stringContaining("'full'")])
})
