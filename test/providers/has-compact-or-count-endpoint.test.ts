import { expect, test } from 'vitest'
import { hasCompactOrCountEndpoint } from '../../src/providers/has-compact-or-count-endpoint.ts'
import { ACCOUNT, accountWith } from '../support/responses-kit.ts'

test('OpenAI has all /responses endpoints, and other servers have those that a quirk lists', () => {
  const local = { ...ACCOUNT, baseUrl: 'http://127.0.0.1:8000/v1' }
  expect(hasCompactOrCountEndpoint(ACCOUNT, 'compact')).toBe(true)
  expect(hasCompactOrCountEndpoint(accountWith({ compact: false }), 'compact')).toBe(false)
  expect(hasCompactOrCountEndpoint(local, 'inputTokens')).toBe(false)
  expect(
    hasCompactOrCountEndpoint({ ...local, quirks: { inputTokens: true } }, 'inputTokens'),
  ).toBe(true)
})

test('an account with another wire has no /responses endpoints', () => {
  const chat = { ...ACCOUNT, wire: 'chat' as const, quirks: { compact: true } }
  expect(hasCompactOrCountEndpoint(chat, 'compact')).toBe(false)
})
