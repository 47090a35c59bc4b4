import { expect, test } from 'vitest'
import {
  createFirstRequests,
  createUnsharedFirstRequests,
  type EndedAnswer,
} from '../../../src/background/idempotency/first-requests.ts'

const KEY = { keyId: 'k', fingerprint: 'f' }
const ANSWER: EndedAnswer = {
  turnId: 't',
  createdAtMs: 1,
  endedAtMs: 2,
  outcome: { items: [], finish: null, failure: null, usage: null, upstreamId: null, model: null },
}

test('a request of a process is found until it ends', async () => {
  const requests = createFirstRequests()
  const first = requests.register(KEY)
  expect(requests.find('k')).toMatchObject({ fingerprint: 'f' })
  first.end(ANSWER)
  expect(requests.find('k')).toBeNull()
  expect(await first.whenEnded).toBe(ANSWER)
})

test('unshared requests are not found, and each has an end of its own', async () => {
  const requests = createUnsharedFirstRequests()
  const first = requests.register(KEY)
  const second = requests.register(KEY)
  first.confirm()
  second.withdraw()
  expect(requests.find('k')).toBeNull()
  first.end(ANSWER)
  expect(await first.whenEnded).toBe(ANSWER)
  const third = requests.register(KEY)
  third.fail(new Error('rejected'))
  await expect(third.whenEnded).rejects.toThrow('rejected')
})
