import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json.ts'
import {
  compareRequests,
  formatJsonPath,
} from '../../../src/explain/cache-miss/compare-requests.ts'

const user = (content: string): JsonObject => ({ role: 'user', content })

function difference(before: JsonObject, now: JsonObject) {
  const { path, offset, isNew } = compareRequests(before, now)
  return { at: path === null ? null : formatJsonPath(path), offset, isNew }
}

test('a conversation that goes on is new at its end and nowhere else', () => {
  const before = { messages: [user('a')], stream: true }
  const now = { messages: [user('a'), user('b')], stream: false }
  expect(difference(before, now)).toEqual({ at: 'messages[1]', offset: 0, isNew: true })
  expect(compareRequests(before, now).sameBytes).toBe(JSON.stringify(user('a')).length)
})

test('the demo model, which newcomers meet first, has a conversation as well', () => {
  const before = { instructions: null, items: [user('a')], delayMs: 12 }
  const now = { instructions: null, items: [user('a'), user('b')], delayMs: 12 }
  expect(difference(before, now)).toEqual({ at: 'items[1]', offset: 0, isNew: true })
})

test('says where in a text the difference begins', () => {
  const before = { input: [{ type: 'message', content: [{ text: 'one two' }] }] }
  const now = { input: [{ type: 'message', content: [{ text: 'one ten' }] }] }
  const at = 'input[0].content[0].text'
  expect(difference(before, now)).toEqual({ at, offset: 5, isNew: false })
})

test('tools are read before everything else, wherever they are written', () => {
  const before = { messages: [user('a')], tools: [{ name: 'one' }] }
  const now = { messages: [user('a')], tools: [{ name: 'two' }] }
  expect(difference(before, now)).toMatchObject({ at: 'tools[0].name' })
  expect(compareRequests(before, now).sameBytes).toBe(0)
})

test('marks of the cache may move', () => {
  const marked = { ...user('a'), cache_control: { type: 'ephemeral' } }
  expect(difference({ messages: [marked] }, { messages: [user('a')] }).at).toBeNull()
})

test('what was taken away is missing in its place', () => {
  const before = { contents: [user('a'), user('b')] }
  expect(difference(before, { contents: [user('a')] }).at).toBe('contents[1]')
  expect(difference(before, { contents: [user('b')] }).at).toBe('contents[0].content')
  expect(difference({ instructions: 'a', input: [] }, { input: [] }).at).toBe('instructions[0]')
})
