import { expect, test } from 'vitest'
import { isAllowedHost } from '../../../src/media/loading/check-url-safety.ts'

test.each([
  ['http://files.intranet/a.png', 80, true],
  ['http://files.intranet:80/a.png', 80, true],
  ['https://files.intranet/a.png', 80, false],
  ['https://files.intranet/a.png', 443, true],
  ['http://files.intranet/a.png', 443, false],
  ['http://files.intranet:9000/a.png', 9000, true],
  ['http://files.intranet:9000/a.png', 'default', false],
  ['https://files.intranet/a.png', 'default', true],
  ['http://files.intranet:9000/a.png', 'any', true],
  ['http://other.intranet/a.png', 80, false],
] as const)('%s is allowed by MEDIA_FETCH_ALLOW with the port %s: %s', (url, port, expected) => {
  expect(isAllowedHost(new URL(url), [{ host: 'files.intranet', port }])).toBe(expected)
})
