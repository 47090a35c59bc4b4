import { expect, test } from 'vitest'
import { isLoopbackAddress } from '../../src/server/runtime/is-loopback-address.ts'
import {
  createTenantAuthenticator,
  rejectForeignPages,
} from '../../src/server/authenticate-tenant.ts'

const isLocal = () => true
const isRemote = () => false

test('without API keys, the gateway serves only requests of its own machine', () => {
  const authenticate = createTenantAuthenticator([])
  expect(authenticate(new Headers(), isLocal)).toEqual({ tenant: 'local', user: null })
  expect(() => authenticate(new Headers({ authorization: 'Bearer x' }), isRemote)).toThrow(
    /Set BACKSTORY_KEYS/,
  )
})

test('with API keys, the key of a request determines the tenant, whatever the address of the client', () => {
  const authenticate = createTenantAuthenticator([
    { name: 'a', key: 'one' },
    { name: 'b', key: 'two' },
  ])
  expect(authenticate(new Headers({ authorization: 'Bearer two' }), isRemote).tenant).toBe('b')
  expect(authenticate(new Headers({ authorization: 'bearer one' }), isRemote).tenant).toBe('a')
  expect(() => authenticate(new Headers({ authorization: 'Bearer three' }), isLocal)).toThrow(
    /not one of the keys/,
  )
  expect(() => authenticate(new Headers(), isLocal)).toThrow(/No API key was sent/)
})

test('an API key may also be sent as `x-api-key`, as clients of Anthropic do', () => {
  const authenticate = createTenantAuthenticator([{ name: 'a', key: 'one' }])
  const send = (headers: Record<string, string>) => () =>
    authenticate(new Headers(headers), isRemote).tenant
  expect(send({ 'x-api-key': 'one' })()).toBe('a')
  expect(send({ 'x-api-key': 'one', authorization: '' })()).toBe('a')
  expect(send({ 'x-api-key': 'two' })).toThrow(/not one of the keys/)
  // The standard header takes precedence, so that a second one changes nothing.
  expect(send({ 'x-api-key': 'one', authorization: 'Bearer two' })).toThrow(/not one of the keys/)
  expect(send({})).toThrow(/x-api-key/)
})

test.each([
  ['127.0.0.1', true],
  ['127.9.9.9:8787', true],
  ['::1', true],
  ['[::1]:8787', true],
  ['::ffff:127.0.0.1', true],
  ['localhost:8787', true],
  ['10.0.0.1', false],
  ['::ffff:10.0.0.1', false],
  ['localhost.example.com', false],
  ['127.0.0.1.example.com', false],
  ['[::1].example.com', false],
  ['', false],
])('the address %s is recognized as a loopback address: %s', (address, expected) => {
  expect(isLoopbackAddress(address)).toBe(expected)
})

test.each([
  [{}, true],
  [{ origin: 'http://localhost:3000', 'sec-fetch-site': 'cross-site' }, true],
  [{ 'sec-fetch-site': 'same-origin' }, true],
  [{ 'sec-fetch-site': 'none' }, true],
  [{ 'sec-fetch-site': 'cross-site' }, false],
  [{ origin: 'https://example.com' }, false],
  [{ origin: 'capacitor://localhost' }, false],
  [{ origin: 'tauri://localhost' }, false],
  [{ origin: 'http://[::1].example.com' }, false],
  [{ origin: 'null' }, false],
] as const)(
  'without API keys, a request with the headers %j is accepted: %s',
  (headers, isAccepted) => {
    const reject = (keys: Parameters<typeof rejectForeignPages>[1]) => () =>
      rejectForeignPages(new Headers(headers), keys)
    if (isAccepted) expect(reject([])).not.toThrow()
    else expect(reject([])).toThrow(/Set BACKSTORY_KEYS/)
    expect(reject([{ name: 'a', key: 'one' }])).not.toThrow()
  },
)
