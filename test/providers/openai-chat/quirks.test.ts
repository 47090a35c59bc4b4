/** The quirks of an account and their effect on requests. */
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../src/core/json/json.ts'
import { openaiChat } from '../../../src/providers/openai-chat/openai-chat.ts'
import { SERVICE_QUIRK_PROFILES } from '../../../src/providers/openai-chat/service-quirk-profiles.ts'
import { readChatQuirks } from '../../../src/providers/openai-chat/quirks.ts'
import { talk } from '../../support/talk.ts'
import { accountOf, image, message, promptOf, encode, user } from './kit.ts'

test('the quirk `profile` sets the quirks of a service, which the account can override one by one', () => {
  expect(readChatQuirks(accountOf({ profile: 'mistral' }))).toBeTypeOf('object')
  const quirks = readChatQuirks(
    accountOf({ profile: 'deepseek', reasoningOn: 'all', query: 'a=1' }),
  )
  expect(quirks).toEqual({
    ...SERVICE_QUIRK_PROFILES['deepseek'],
    reasoningOn: 'all',
    query: 'a=1',
  })
})

test('invalid values of Chat Completions quirks are ignored', () => {
  const quirks = {
    profile: 'nobody',
    developerRole: 'yes',
    callIdPattern: '(',
    refuses: 'stop',
    thinkTags: false,
    constructor: 1,
    reasoningField: 'thoughts',
  }
  expect(readChatQuirks(accountOf(quirks))).toEqual({})
})

test('the API key of a chat account is sent in the header that the quirk `keyHeader` names', () => {
  const { createHeaders } = openaiChat
  expect(createHeaders(accountOf())).toEqual({ authorization: 'Bearer sk-1' })
  expect(createHeaders(accountOf({ profile: 'azure' }))).toEqual({ 'api-key': 'sk-1' })
  expect(createHeaders({ ...accountOf(), apiKey: null })).toEqual({})
})

test('the quirk `query` is appended to the path of a chat request', () => {
  const { path } = openaiChat.encode(promptOf([user('hi')]), accountOf({ query: 'api-version=1' }))
  expect(path).toBe('/chat/completions?api-version=1')
})

describe('strict alternation of roles in a chat request', () => {
  const strict = { strictAlternation: true }
  const encodeLines = (items: Parameters<typeof encode>[0], quirks: JsonObject = strict) =>
    lines(encode(items, {}, quirks).messages)

  test('the quirk `strictAlternation` merges consecutive messages, puts system messages first and starts with the user', () => {
    const items = talk`
      system: one
      system: two
      assistant: hello
      user: a
      system: mind
      user: b
      assistant: c
      assistant: d
    `
    expect(encodeLines(items)).toEqual([
      'system: one\ntwo',
      'user: (The conversation begins.)',
      'assistant: hello',
      'user: a\nmind\nb',
      'assistant: c\nd',
    ])
    expect(encode(items, {}, strict).codes).toEqual([
      'messages-merged',
      'system-as-user',
      'messages-merged',
      'messages-merged',
      'messages-merged',
      'first-user-line-added',
    ])
  })

  test('the quirk `strictAlternation` does not merge calls, outputs or messages with different names', () => {
    const named = (name: string) => ({ ...user('hi'), native: { chat: { name } } })
    const items = [
      named('Ann'),
      named('Bob'),
      ...talk`
        assistant: wait
        call a
        output a one
        user: so?
      `,
    ]
    expect(encodeLines(items)).toEqual([
      'user: hi',
      'user: hi',
      'assistant: wait',
      'tool: one',
      'user: so?',
    ])
  })

  test('the quirk `strictAlternation` merges messages with images by concatenating their parts', () => {
    expect(encode([user('see', image()), user('well?')], {}, strict).messages).toMatchObject([
      { content: [{ type: 'text' }, { type: 'image_url' }, { type: 'text', text: 'well?' }] },
    ])
  })
})

test('the quirk `systemRole: false` sends system messages as user messages', () => {
  const { messages, codes } = encode(
    [message('developer', 'Be kind.'), user('hi')],
    {},
    {
      systemRole: false,
    },
  )
  expect(lines(messages)).toEqual([
    'user: These instructions hold for the whole conversation:\nBe kind.',
    'user: hi',
  ])
  expect(codes).toEqual(['developer-as-system', 'system-as-user'])
})

test('the quirk `userAfterTool: false` inserts an assistant message between a tool output and a user message', () => {
  const items = talk`
    user: go
    call a
    output a one
    user: so?
  `
  const { messages, codes } = encode(items, {}, { userAfterTool: false })
  expect(lines(messages).slice(2)).toEqual([
    'tool: one',
    'assistant: I have the output.',
    'user: so?',
  ])
  expect(codes).toEqual(['assistant-line-added'])
})

describe('an assistant message at the end of a chat request', () => {
  const items = talk`
    user: go
    assistant: The answer is
  `
  const last = (quirks: JsonObject) => (encode(items, {}, quirks).messages as JsonObject[]).at(-1)

  test('the quirk `prefixCompletion: true` marks an assistant message at the end as a prefix', () => {
    expect(last({ prefixCompletion: true })).toEqual({
      role: 'assistant',
      content: 'The answer is',
      prefix: true,
    })
    expect(last({ profile: 'deepseek' })).toMatchObject({ prefix: true, reasoning_content: '' })
  })

  test('the quirk `prefixCompletion: false` adds a user message that asks to continue after an assistant message at the end', () => {
    expect(last({ prefixCompletion: false })).toMatchObject({ role: 'user' })
    expect(last({})).toEqual({ role: 'assistant', content: 'The answer is' })
  })
})

test("the quirk `messageNames: false` leaves out a message's name", () => {
  const named = { ...user('hi'), native: { chat: { name: 'Ann' } } }
  expect(encode([named]).messages).toEqual([{ role: 'user', name: 'Ann', content: 'hi' }])
  expect(encode([named], {}, { profile: 'groq' }).messages).toEqual([
    { role: 'user', content: 'hi' },
  ])
})

function lines(messages: Json | undefined): readonly string[] {
  return (messages as { role: string; content: string }[]).map(
    ({ role, content }) => `${role}: ${content}`,
  )
}
