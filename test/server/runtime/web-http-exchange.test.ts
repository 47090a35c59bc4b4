import { expect, test } from 'vitest'
import { createWebHttpExchange } from '../../../src/server/runtime/web-http-exchange.ts'

test.each([204, 205, 304])('a response with status %i has no body', (status) => {
  const request = new Request('http://localhost/')
  const exchange = createWebHttpExchange(request, () => undefined)
  const response = exchange.startStream(status, { 'x-kept': 'yes' }, ({ end }) => end(''))
  expect(response).toMatchObject({ status, body: null })
  expect(response.headers.get('x-kept')).toBe('yes')
})
