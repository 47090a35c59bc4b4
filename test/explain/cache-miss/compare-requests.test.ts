import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json.ts'
import {
  compareRequests,
  formatJsonPath,
} from '../../../src/explain/cache-miss/compare-requests.ts'

const user = (content: string): JsonObject => ({ role: 'user', content })

function difference(before: JsonObject, now: JsonObject) {
  const { differencePath, differenceOffset, isContinuation } = compareRequests(before, now)
  return {
    at: differencePath === null ? null : formatJsonPath(differencePath),
    offset: differenceOffset,
    isNew: isContinuation,
  }
}

test('if a request continues a conversation, the first difference to the previous request is its new message', () => {
  const before = { messages: [user('a')], stream: true }
  const now = { messages: [user('a'), user('b')], stream: false }
  expect(difference(before, now)).toEqual({ at: 'messages[1]', offset: 0, isNew: true })
  expect(compareRequests(before, now).equalPrefixBytes).toBe(JSON.stringify(user('a')).length)
})

test('the first difference of two requests to the demo model is found in their items', () => {
  const before = { instructions: null, items: [user('a')], delayMs: 12 }
  const now = { instructions: null, items: [user('a'), user('b')], delayMs: 12 }
  expect(difference(before, now)).toEqual({ at: 'items[1]', offset: 0, isNew: true })
})

test('the first difference of two requests is located even inside a text', () => {
  const before = { input: [{ type: 'message', content: [{ text: 'one two' }] }] }
  const now = { input: [{ type: 'message', content: [{ text: 'one ten' }] }] }
  const at = 'input[0].content[0].text'
  expect(difference(before, now)).toEqual({ at, offset: 5, isNew: false })
})

test('a difference in the tools comes first, wherever the tools are in the body', () => {
  const before = { messages: [user('a')], tools: [{ name: 'one' }] }
  const now = { messages: [user('a')], tools: [{ name: 'two' }] }
  expect(difference(before, now)).toMatchObject({ at: 'tools[0].name' })
  expect(compareRequests(before, now).equalPrefixBytes).toBe(0)
})

test('two requests that differ only in cache_control have no difference', () => {
  const marked = { ...user('a'), cache_control: { type: 'ephemeral' } }
  expect(difference({ messages: [marked] }, { messages: [user('a')] }).at).toBeNull()
})

test('if an entry was removed, the first difference of two requests is at its former index', () => {
  const before = { contents: [user('a'), user('b')] }
  expect(difference(before, { contents: [user('a')] }).at).toBe('contents[1]')
  expect(difference(before, { contents: [user('b')] }).at).toBe('contents[0].content')
  expect(difference({ instructions: 'a', input: [] }, { input: [] }).at).toBe('instructions[0]')
})
