import { expect, test } from 'vitest'
import { hasResponsesEndpoint } from '../../src/providers/has-responses-endpoint.ts'
import { ACCOUNT, accountWith } from '../support/responses-kit.ts'

test('OpenAI has all /responses endpoints, and other servers have those that a quirk lists', () => {
  const local = { ...ACCOUNT, baseUrl: 'http://127.0.0.1:8000/v1' }
  expect(hasResponsesEndpoint(ACCOUNT, 'compact')).toBe(true)
  expect(hasResponsesEndpoint(accountWith({ compact: false }), 'compact')).toBe(false)
  expect(hasResponsesEndpoint(local, 'inputTokens')).toBe(false)
  expect(hasResponsesEndpoint({ ...local, quirks: { inputTokens: true } }, 'inputTokens')).toBe(
    true,
  )
})

test('an account with another wire has no /responses endpoints', () => {
  const chat = { ...ACCOUNT, wire: 'chat' as const, quirks: { compact: true } }
  expect(hasResponsesEndpoint(chat, 'compact')).toBe(false)
})
