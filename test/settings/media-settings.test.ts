import { expect, test } from 'vitest'
import { readSettings } from '../../src/settings/read-settings.ts'

function allowedBy(value: unknown) {
  return readSettings({ MEDIA_FETCH_ALLOW: value }).MEDIA_FETCH_ALLOW
}

test('hosts of this network are named with their ports, as a text or as a list', () => {
  const hosts = [
    { host: 'files.intranet', port: null },
    { host: '10.0.0.7', port: '9000' },
    { host: '[::1]', port: '*' },
  ]
  expect(allowedBy('Files.Intranet, 10.0.0.7:9000,[::1]:*')).toEqual(hosts)
  expect(allowedBy(['files.intranet', '0x0a000007:9000', '[0::1]:*'])).toEqual(hosts)
  expect(allowedBy(undefined)).toEqual([])
})

test.each(['http://files.intranet', 'a b', 'user@host', 'host:port', ':80', 7, { host: 'a' }])(
  'a host cannot be %j',
  (value) => {
    expect(() => allowedBy(value)).toThrow(/MEDIA_FETCH_ALLOW must/)
  },
)

test.each([
  ['MEDIA_FETCH', 'maybe'],
  ['MEDIA_FETCH_TIMEOUT_SECONDS', '0'],
  ['MEDIA_FETCH_MAX_MB', '101'],
  ['MEDIA_MEMORY_MB', '-1'],
])('%s cannot be %s', (name, value) => {
  expect(() => readSettings({ [name]: value })).toThrow(new RegExp(`${name} must be`))
})
