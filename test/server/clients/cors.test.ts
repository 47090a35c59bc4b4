/** CORS headers: which web pages may read the gateway's responses. */
import { expect, test } from 'vitest'
import { respondToPreflight, createCorsHeaders } from '../../../src/server/clients/cors.ts'

const PAGE = 'https://chat.example.com'

test('a request without an Origin header gets no CORS headers', () => {
  expect(createCorsHeaders(null, true)).toBeNull()
  expect(createCorsHeaders(null, false)).toBeNull()
})

test('with API keys, CORS headers allow every web page, but no cookies', () => {
  const headers = createCorsHeaders(PAGE, true)
  expect(headers).toMatchObject({ 'access-control-allow-origin': '*' })
  expect(headers).not.toHaveProperty('access-control-allow-credentials')
})

test.each([
  ['http://localhost:3000', true],
  ['http://127.0.0.1:8080', true],
  [PAGE, false],
  ['null', false],
  ['http://localhost.example.com', false],
])('without API keys, CORS headers allow a web page of %s: %s', (origin, isAllowed) => {
  expect(createCorsHeaders(origin, false)?.['access-control-allow-origin']).toBe(
    isAllowed ? origin : undefined,
  )
})

const preflight = (method: string, headers: Readonly<Record<string, string>>) =>
  respondToPreflight({ method, headers: new Headers(headers) }, createCorsHeaders(PAGE, true) ?? {})

test('the answer to a preflight request lists the allowed request headers', () => {
  const answer = preflight('OPTIONS', {
    'access-control-request-method': 'POST',
    'access-control-request-headers':
      'Authorization, Content-Type,x-backstory-chat, X-Stainless-Lang, cookie, x-other',
  })
  expect(answer?.status).toBe(204)
  const allowed = answer?.headers.get('access-control-allow-headers') ?? ''
  expect(allowed.split(', ')).toEqual([
    'authorization',
    'content-type',
    'x-backstory-chat',
    'x-stainless-lang',
  ])
  expect(answer?.headers.get('access-control-allow-methods')).toContain('POST')
  expect(answer?.headers.get('access-control-allow-origin')).toBe('*')
})

test('requests that are not preflight requests get no answer from respondToPreflight', () => {
  expect(preflight('OPTIONS', {})).toBeNull()
  expect(preflight('POST', { 'access-control-request-method': 'POST' })).toBeNull()
})
