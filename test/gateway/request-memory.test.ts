import fc from 'fast-check'
import { expect, test } from 'vitest'
import { GatewayError } from '../../src/core/errors/gateway-error.ts'
import {
  createBudgetOfEachRequest,
  createMemoryBudget,
  type RequestMemory,
} from '../../src/gateway/request-memory.ts'

/** Returns the error code of a rejected claim; null if the claim is accepted. */
function claim(memory: RequestMemory, bytes: number): string | null {
  try {
    memory.claim({ bytes })
  } catch (error) {
    if (error instanceof GatewayError) return error.failure.code
    throw error
  }
  return null
}

const command = fc.record({
  tenant: fc.constantFrom('a', 'b'),
  bytes: fc.nat(40),
  releases: fc.boolean(),
})

test('several requests together never claim more than the limits, and all memory is free after they end (C158)', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
      const limits = { totalBytes: 500, bytesPerTenant: 300 }
      const budget = createMemoryBudget(limits)
      const open: { readonly tenant: string; readonly memory: RequestMemory }[] = []
      for (const { tenant, bytes, releases } of commands) {
        if (releases) open.shift()?.memory.release()
        const memory = budget.trackRequest(tenant)
        if (claim(memory, bytes) === null) open.push({ tenant, memory })
        const claimed = open.map((one) => one.memory.claimedBytes())
        expect(claimed.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(limits.totalBytes)
        const own = open
          .filter((one) => one.tenant === tenant)
          .map((one) => one.memory.claimedBytes())
        expect(own.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(limits.bytesPerTenant)
      }
      for (const { memory } of open) memory.release()
      expect(claim(budget.trackRequest('a'), 60)).toBeNull()
    }),
  )
})

test('a key that has used its share gets 429, and another key is still served', () => {
  const budget = createMemoryBudget({ totalBytes: 1000, bytesPerTenant: 500 })
  expect(claim(budget.trackRequest('a'), 100)).toBeNull()
  expect(claim(budget.trackRequest('a'), 1)).toBe('rate_limit_exceeded')
  expect(claim(budget.trackRequest('b'), 100)).toBeNull()
  expect(claim(budget.trackRequest('c'), 1)).toBe('overloaded')
})

test('the only request in progress is accepted even if it needs more than the limit', () => {
  const budget = createMemoryBudget({ totalBytes: 10, bytesPerTenant: 10 })
  const memory = budget.trackRequest('a')
  expect(claim(memory, 1_000_000)).toBeNull()
  expect(claim(memory, 1_000_000)).toBeNull()
  memory.release()
  expect(claim(budget.trackRequest('b'), 1_000_000)).toBeNull()
})

test('with a budget of its own, a request is limited alone, whether or not others are released', () => {
  const budget = createBudgetOfEachRequest(1000)
  for (let count = 0; count < 100; count += 1)
    expect(claim(budget.trackRequest('a'), 200)).toBeNull()
  const memory = budget.trackRequest('a')
  expect(claim(memory, 201)).toBe('overloaded')
  expect(claim(memory, 150)).toBeNull()
  expect(memory.claimedBytes()).toBe(750)
  expect(claim(memory, 51)).toBe('overloaded')
  memory.release()
  expect(claim(memory, 200)).toBeNull()
})

test('a request that is too large for a budget of its own is told not to try again', () => {
  const memory = createBudgetOfEachRequest(10).trackRequest('a')
  const claimAll = () => memory.claim({ bytes: 1_000_000 })
  expect(claimAll).toThrow(
    expect.objectContaining({
      failure: expect.objectContaining({
        status: 503,
        message: expect.stringContaining('REQUEST_MEMORY_MB') as string,
      }) as unknown,
      headers: { 'x-should-retry': 'false' },
    }),
  )
})

test('a released account can be used again; a closed one claims nothing more (C158)', () => {
  const budget = createMemoryBudget({ totalBytes: 1000, bytesPerTenant: 1000 })
  const memory = budget.trackRequest('a')
  memory.claim({ bytes: 100 })
  memory.release()
  memory.claim({ bytes: 100 })
  expect(claim(budget.trackRequest('b'), 150)).toBe('overloaded')
  memory.close()
  expect(() => memory.claim({ bytes: 100 })).toThrow('has ended')
  memory.close()
  expect(memory.claimedBytes()).toBe(0)
  expect(claim(budget.trackRequest('b'), 150)).toBeNull()
})
