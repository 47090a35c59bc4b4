import { expect, test } from 'vitest'
import { isLoopbackAddress } from '../../src/server/runtime/is-loopback-address.ts'
import { createAuthenticator } from '../../src/server/authenticate.ts'

const here = () => true
const elsewhere = () => false

test('without keys this machine is served, and nobody else', () => {
  const callerOf = createAuthenticator([])
  expect(callerOf(null, here)).toEqual({ tenant: 'local', user: null })
  expect(() => callerOf('Bearer x', elsewhere)).toThrow(/Set BACKSTORY_KEYS/)
})

test('with keys the key decides, wherever it comes from', () => {
  const callerOf = createAuthenticator([
    { name: 'a', key: 'one' },
    { name: 'b', key: 'two' },
  ])
  expect(callerOf('Bearer two', elsewhere).tenant).toBe('b')
  expect(callerOf('bearer one', elsewhere).tenant).toBe('a')
  expect(() => callerOf('Bearer three', here)).toThrow(/not one of the keys/)
  expect(() => callerOf(null, here)).toThrow(/No API key was sent/)
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
  ['', false],
])('%s is loopback: %s', (address, expected) => {
  expect(isLoopbackAddress(address)).toBe(expected)
})
