import { describe, expect, test } from 'vitest'
import { createUpstreamRequestStore } from '../../../src/store/upstream-requests/sql-upstream-request-store.ts'
import { testStoredRequests } from '../contract-requests.ts'
import { ENGINES_PLAIN_AND_ENCRYPTED } from '../engines.ts'

describe.each(ENGINES_PLAIN_AND_ENCRYPTED)('upstream requests on %s', (_, open, encryption) =>
  testStoredRequests(open, encryption),
)

test('saveRequests rejects if a slow database has left too many writes pending', async () => {
  const { promise: never } = Promise.withResolvers<never>()
  const engine = {
    language: 'sqlite',
    read: () => never,
    write: () => never,
    close: async () => {},
  } as const
  const requests = createUpstreamRequestStore(engine)
  const owner = { tenant: 't', user: null }
  const refused: string[] = []
  for (let at = 0; at < 1_005; at += 1) {
    const sent = { body: '{}', items: '[]', about: '{}' }
    requests
      .saveRequests(owner, `${at}`, async () => ({ requests: [sent], baseTurnId: null }))
      .catch(() => void refused.push(`${at}`))
  }
  await new Promise((resolve) => setTimeout(resolve))
  expect(refused).toEqual(['1000', '1001', '1002', '1003', '1004'])
})
