import { expect, test } from 'vitest'
import { hasResponsesEndpoint } from '../../src/providers/has-responses-endpoint.ts'
import { ACCOUNT, accountWith } from '../support/responses-kit.ts'

test('OpenAI has all endpoints, other servers declare them by a quirk', () => {
  const local = { ...ACCOUNT, baseUrl: 'http://127.0.0.1:8000/v1' }
  expect(hasResponsesEndpoint(ACCOUNT, 'compact')).toBe(true)
  expect(hasResponsesEndpoint(accountWith({ compact: false }), 'compact')).toBe(false)
  expect(hasResponsesEndpoint(local, 'inputTokens')).toBe(false)
  expect(hasResponsesEndpoint({ ...local, quirks: { inputTokens: true } }, 'inputTokens')).toBe(
    true,
  )
})

test('only accounts with the Responses wire have the endpoints', () => {
  const chat = { ...ACCOUNT, wire: 'chat' as const, quirks: { compact: true } }
  expect(hasResponsesEndpoint(chat, 'compact')).toBe(false)
})
