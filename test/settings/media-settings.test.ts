import { expect, test } from 'vitest'
import { readSettings } from '../../src/settings/read-settings.ts'

function readAllowedHosts(value: unknown) {
  return readSettings({ MEDIA_FETCH_ALLOW: value }).MEDIA_FETCH_ALLOW
}

test('allowed media hosts and their ports are read from a text or a list', () => {
  const hosts = [
    { host: 'files.intranet', port: 'default' },
    { host: '10.0.0.7', port: 9000 },
    { host: '[::1]', port: 'any' },
  ]
  expect(readAllowedHosts('Files.Intranet, 10.0.0.7:9000,[::1]:*')).toEqual(hosts)
  expect(readAllowedHosts(['files.intranet', '0x0a000007:9000', '[0::1]:*'])).toEqual(hosts)
  expect(readAllowedHosts(undefined)).toEqual([])
})

test.each(['http://files.intranet', 'a b', 'user@host', 'host:port', ':80', 7, { host: 'a' }])(
  '%j is rejected as an allowed media host',
  (value) => {
    expect(() => readAllowedHosts(value)).toThrow(/MEDIA_FETCH_ALLOW must/)
  },
)

test.each([
  ['MEDIA_FETCH', 'maybe'],
  ['MEDIA_FETCH_TIMEOUT_SECONDS', '0'],
  ['MEDIA_FETCH_MAX_MB', '101'],
  ['MEDIA_MEMORY_MB', '-1'],
])('the media setting %s=%s is rejected', (name, value) => {
  expect(() => readSettings({ [name]: value })).toThrow(new RegExp(`${name} must be`))
})
