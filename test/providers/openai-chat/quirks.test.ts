/** What an account can say of its upstream, and what comes of it. */
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../src/core/json/json.ts'
import { openaiChat } from '../../../src/providers/openai-chat/openai-chat.ts'
import { KNOWN_SERVICE_QUIRKS } from '../../../src/providers/openai-chat/known-service-quirks.ts'
import { readChatQuirks } from '../../../src/providers/openai-chat/quirks.ts'
import { talk } from '../../support/talk.ts'
import { accountOf, image, message, promptOf, send, user } from './kit.ts'

test('a profile is a set of quirks, each of which can be said otherwise', () => {
  expect(readChatQuirks(accountOf({ profile: 'mistral' }))).toBeTypeOf('object')
  const quirks = readChatQuirks(
    accountOf({ profile: 'deepseek', reasoningOn: 'all', query: 'a=1' }),
  )
  expect(quirks).toEqual({ ...KNOWN_SERVICE_QUIRKS['deepseek'], reasoningOn: 'all', query: 'a=1' })
})

test('a value that makes no sense is passed over', () => {
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

test('the key goes in the header that the upstream reads', () => {
  const { createHeaders } = openaiChat
  expect(createHeaders(accountOf())).toEqual({ authorization: 'Bearer sk-1' })
  expect(createHeaders(accountOf({ profile: 'azure' }))).toEqual({ 'api-key': 'sk-1' })
  expect(createHeaders({ ...accountOf(), apiKey: null })).toEqual({})
})

test('a query stands behind the path', () => {
  const { path } = openaiChat.encode(promptOf([user('hi')]), accountOf({ query: 'api-version=1' }))
  expect(path).toBe('/chat/completions?api-version=1')
})

describe('roles that must take turns', () => {
  const strict = { strictAlternation: true }
  const shown = (items: Parameters<typeof send>[0], quirks: JsonObject = strict) =>
    lines(send(items, {}, quirks).messages)

  test('are merged, with the user first and the system in front', () => {
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
    expect(shown(items)).toEqual([
      'system: one\ntwo',
      'user: (The conversation begins.)',
      'assistant: hello',
      'user: a\nmind\nb',
      'assistant: c\nd',
    ])
    expect(send(items, {}, strict).whys).toEqual([
      'messages-merged',
      'system-as-user',
      'messages-merged',
      'messages-merged',
      'messages-merged',
      'first-user-line-added',
    ])
  })

  test('keep calls, outputs and names apart', () => {
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
    expect(shown(items)).toEqual([
      'user: hi',
      'user: hi',
      'assistant: wait',
      'tool: one',
      'user: so?',
    ])
  })

  test('put parts together where there is more than text', () => {
    expect(send([user('see', image()), user('well?')], {}, strict).messages).toMatchObject([
      { content: [{ type: 'text' }, { type: 'image_url' }, { type: 'text', text: 'well?' }] },
    ])
  })
})

test('without a role for the system its text is said by the user', () => {
  const { messages, whys } = send(
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
  expect(whys).toEqual(['developer-as-system', 'system-as-user'])
})

test('a user who may not speak behind a tool lets the assistant go first', () => {
  const items = talk`
    user: go
    call a
    output a one
    user: so?
  `
  const { messages, whys } = send(items, {}, { userAfterTool: false })
  expect(lines(messages).slice(2)).toEqual([
    'tool: one',
    'assistant: I have the output.',
    'user: so?',
  ])
  expect(whys).toEqual(['assistant-line-added'])
})

describe('a last message of the assistant', () => {
  const items = talk`
    user: go
    assistant: The answer is
  `
  const last = (quirks: JsonObject) => (send(items, {}, quirks).messages as JsonObject[]).at(-1)

  test('is marked where the upstream goes on with marked ones', () => {
    expect(last({ prefixCompletion: true })).toEqual({
      role: 'assistant',
      content: 'The answer is',
      prefix: true,
    })
    expect(last({ profile: 'deepseek' })).toMatchObject({ prefix: true, reasoning_content: '' })
  })

  test('is followed by a request where it may not be the last', () => {
    expect(last({ prefixCompletion: false })).toMatchObject({ role: 'user' })
    expect(last({})).toEqual({ role: 'assistant', content: 'The answer is' })
  })
})

test('a name is left out where it is refused', () => {
  const named = { ...user('hi'), native: { chat: { name: 'Ann' } } }
  expect(send([named]).messages).toEqual([{ role: 'user', name: 'Ann', content: 'hi' }])
  expect(send([named], {}, { profile: 'groq' }).messages).toEqual([{ role: 'user', content: 'hi' }])
})

function lines(messages: Json | undefined): readonly string[] {
  return (messages as { role: string; content: string }[]).map(
    ({ role, content }) => `${role}: ${content}`,
  )
}
