/**
 * Tool calls and thoughts that a user deletes with the "–" buttons of Open WebUI's edit box: the model gets them no more,
 * unless `DELETIONS=undone`. Nothing else is missing.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { ChatSession } from '../../support/open-webui/chat-session.ts'
import { promptLines } from '../../support/open-webui/prompt-lines.ts'
import { nextNumber, parseScript } from '../../support/open-webui/script.ts'
import type { StoredItem } from '../../support/open-webui/stored-item.ts'
import { startTestSetup, type TestSetup } from '../../support/open-webui/test-setup.ts'
import { pythonJson } from '../../support/open-webui/python-json.ts'

let named: TestSetup
let unnamed: TestSetup
let undone: TestSetup
beforeAll(async () => {
  named = await startTestSetup('full')
  unnamed = await startTestSetup('user')
  undone = await startTestSetup('full', { DELETIONS: 'undone' })
})
afterAll(() => Promise.all([named, unnamed, undone].map((setup) => setup.close())))

const MODELS = ['gpt-5', 'claude-opus-5']
const CONNECTIONS = ['chat', 'responses'] as const
const WAYS = CONNECTIONS.flatMap((connection) => MODELS.map((model) => ({ connection, model })))

/** Returns the kinds of the lines that the model got in the latest request, e.g. `user thought call result text user`. */
function kindsOf(session: ChatSession): string {
  const lines = promptLines(session.received.at(-1) as JsonObject)
  return lines.map((line) => line.slice(0, line.indexOf(':'))).join(' ')
}

/** True for the call number `nth` of the model's answers in this chat. */
function isCall(session: ChatSession, nth: number) {
  const calls = [...session.chat.tree().values()].flatMap((node) =>
    node.kind === 'answer' ? node.items.filter(({ type }) => type === 'function_call') : [],
  )
  return (item: StoredItem): boolean => item === calls[nth]
}

describe.concurrent.each(WAYS)('a $connection connection to $model', ({ connection, model }) => {
  test('a deleted call stays deleted with its output and the reasoning before it', async () => {
    for (const setup of [named, unnamed]) {
      const session = setup.session({ connection, version: '0.12' }, { model })
      await session.ask('RTC|RC|RT')
      session.chat.deleteItems(isCall(session, 1))
      await session.ask('RT')
      expect(kindsOf(session)).toBe('user thought text call result thought text user')
      await session.ask('T')
      expect(kindsOf(session)).toContain('user thought text call result thought text user')
    }
  })

  test('with DELETIONS=undone, deleted calls and thoughts are restored', async () => {
    const session = undone.session({ connection }, { model })
    await session.ask('RTC|RC|RT')
    session.chat.deleteItems(({ type }) => type === 'function_call' || type === 'reasoning')
    await session.ask('RT')
    expect(kindsOf(session)).toBe(
      'user thought text call result thought call result thought text user',
    )
  })
})

describe.concurrent.each(MODELS)('a chat connection to %s', (model) => {
  test('a deleted thought stays deleted, and the others stay', async () => {
    for (const setup of [named, unnamed]) {
      const session = setup.session({}, { model })
      await session.ask('RT')
      await session.ask('RC|RT')
      let seen = 0
      session.chat.deleteItems(({ type }) => type === 'reasoning' && (seen += 1) === 2)
      await session.ask('RT')
      expect(kindsOf(session)).toBe('user thought text user thought call result text user')
      session.chat.goTo(
        [...session.chat.tree().values()].find(({ kind }) => kind === 'answer')?.id ?? '',
      )
      await session.ask('T')
      expect(kindsOf(session)).toBe('user thought text user')
    }
  })

  test('all thoughts of an answer may be deleted', async () => {
    const session = named.session({}, { model })
    await session.ask('RTRT')
    session.chat.deleteItems(({ type }) => type === 'reasoning')
    await session.ask('T')
    expect(kindsOf(session)).not.toContain('thought')
  })

  test('a switch of the model is no deletion, although Open WebUI then leaves out what stood beside the reasoning', async () => {
    const session = named.session({}, { model })
    await session.ask('RT')
    await session.askAll({ 'glm-5': 'T' })
    await session.askAll({ [model]: 'T' })
    expect(kindsOf(session)).toBe('user thought text user text user')
  })

  test('a thought without text is not deleted, because it was shown nowhere', async () => {
    const session = named.session({}, { model })
    await session.ask('ET')
    await session.ask('RC|ET')
    await session.ask('T')
    expect(kindsOf(session)).toBe('user thought text user thought call result thought text user')
  })

  test('a thought of an answer that was not streamed is not deleted', async () => {
    const { gateway, upstream } = named
    const chat = randomUUID()
    const ask = async (question: string, parent: string, earlier: readonly object[]) => {
      const rounds = parseScript('RT')
      upstream.plan(question, model, rounds)
      const messages = [...earlier, { role: 'user', content: question }]
      const headers = {
        'x-backstory-user': chat,
        'x-backstory-chat': chat,
        'x-backstory-message': `answer to ${question}`,
        'x-backstory-user-parent': parent,
      }
      const body = { model, stream: false, messages }
      const response = await gateway.post('/v1/chat/completions', body, headers)
      const { choices } = (await response.json()) as { choices: { message: { content: string } }[] }
      const { content = '' } = choices[0]?.message ?? {}
      return { said: [...messages, { role: 'assistant', content }], received: rounds[0]?.received }
    }
    const [one, two] = [`Q${nextNumber()} one?`, `Q${nextNumber()} two?`]
    const { said } = await ask(one, '', [])
    const { received } = await ask(two, `answer to ${one}`, said)
    expect(promptLines(received ?? {}).map((line) => line.slice(0, line.indexOf(':')))).toEqual([
      'user',
      'thought',
      'text',
      'user',
    ])
  })

  test('a thought of an answer that was stopped before its reference came is not deleted', async () => {
    const session = named.session({}, { model })
    await session.ask('R~T')
    await session.ask('T')
    expect(kindsOf(session)).toBe('user thought text user')
  })
})

test.concurrent('an older Open WebUI, which sends no references back, loses no thoughts', async () => {
  const inlet = (messages: readonly object[]) =>
    messages.map((message) => ({ ...message, reasoning_details: undefined }))
  const session = unnamed.session({ inlet: inlet as never })
  await session.ask('RT')
  await session.ask('RT')
  expect(kindsOf(session)).toBe('user thought text user')
  expect(pythonJson(session.received.at(-1) ?? {})).not.toContain('backstory')
})

test.concurrent('a thought of an answer that was not streamed, and so had no reference, is not taken as deleted', async () => {
  const { gateway, upstream } = named
  const [question, next] = ['Q0 not streamed?', 'Q1 not streamed?']
  const ask = async (messages: readonly object[], message: string, parent: string) => {
    const position = { 'X-Backstory-Message': message, 'X-Backstory-User-Parent': parent }
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'X-Backstory-Chat': 'plain', ...position },
      body: JSON.stringify({ model: 'gpt-5', messages }),
    })
    const { choices } = (await response.json()) as {
      readonly choices: readonly { readonly message: { readonly content: string } }[]
    }
    return choices[0]?.message.content ?? ''
  }
  const plans = [question, next].map((content) => {
    const rounds = parseScript('RT')
    upstream.plan(content, 'gpt-5', rounds)
    return rounds
  })
  const messages = [{ role: 'user', content: question }]
  const content = await ask(messages, 'first', '')
  await ask(
    [...messages, { role: 'assistant', content }, { role: 'user', content: next }],
    'second',
    'first',
  )
  const lines = promptLines(plans[1]?.[0]?.received ?? {})
  expect(lines.map((line) => line.slice(0, line.indexOf(':')))).toEqual([
    'user',
    'thought',
    'text',
    'user',
  ])
})
