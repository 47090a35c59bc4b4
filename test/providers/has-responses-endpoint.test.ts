import { expect, test } from 'vitest'
import { hasEndpoint } from '../../src/providers/has-responses-endpoint.ts'
import { ACCOUNT, accountWith } from '../support/responses-kit.ts'

test('OpenAI has them all, others say so', () => {
  const local = { ...ACCOUNT, baseUrl: 'http://127.0.0.1:8000/v1' }
  expect(hasEndpoint(ACCOUNT, 'compact')).toBe(true)
  expect(hasEndpoint(accountWith({ compact: false }), 'compact')).toBe(false)
  expect(hasEndpoint(local, 'inputTokens')).toBe(false)
  expect(hasEndpoint({ ...local, quirks: { inputTokens: true } }, 'inputTokens')).toBe(true)
})

test('only who speaks Responses can have them', () => {
  const chat = { ...ACCOUNT, wire: 'chat' as const, quirks: { compact: true } }
  expect(hasEndpoint(chat, 'compact')).toBe(false)
})
