/** Which web pages may read what the gateway answers. */
import { expect, test } from 'vitest'
import { respondToPreflight, createCorsHeaders } from '../../../src/server/clients/cors.ts'

const PAGE = 'https://chat.example.com'

test('a request of no page is not told anything', () => {
  expect(createCorsHeaders(null, true)).toBeNull()
  expect(createCorsHeaders(null, false)).toBeNull()
})

test('with keys every page may read, and no cookie counts', () => {
  const sharing = createCorsHeaders(PAGE, true)
  expect(sharing).toMatchObject({ 'access-control-allow-origin': '*' })
  expect(sharing).not.toHaveProperty('access-control-allow-credentials')
})

test.each([
  ['http://localhost:3000', true],
  ['http://127.0.0.1:8080', true],
  [PAGE, false],
  ['null', false],
  ['http://localhost.example.com', false],
])('without keys a page of %s may read: %s', (origin, may) => {
  expect(createCorsHeaders(origin, false)?.['access-control-allow-origin']).toBe(
    may ? origin : undefined,
  )
})

const asks = (method: string, headers: Readonly<Record<string, string>>) =>
  respondToPreflight({ method, headers: new Headers(headers) }, createCorsHeaders(PAGE, true) ?? {})

test('a browser that asks is told what it may send', () => {
  const answer = asks('OPTIONS', {
    'access-control-request-method': 'POST',
    'access-control-request-headers':
      'Authorization, Content-Type,x-backstory-chat, X-Stainless-Lang, cookie, x-other',
  })
  expect(answer?.status).toBe(204)
  const granted = answer?.headers.get('access-control-allow-headers') ?? ''
  expect(granted.split(', ')).toEqual([
    'authorization',
    'content-type',
    'x-backstory-chat',
    'x-stainless-lang',
  ])
  expect(answer?.headers.get('access-control-allow-methods')).toContain('POST')
  expect(answer?.headers.get('access-control-allow-origin')).toBe('*')
})

test('any other request goes on', () => {
  expect(asks('OPTIONS', {})).toBeNull()
  expect(asks('POST', { 'access-control-request-method': 'POST' })).toBeNull()
})
