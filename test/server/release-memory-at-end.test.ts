import { expect, test } from 'vitest'
import type { ClientStream } from '../../src/gateway/http-exchange-interface.ts'
import { createMemoryBudget } from '../../src/gateway/request-memory.ts'
import { releaseMemoryAtEnd } from '../../src/server/release-memory-at-end.ts'
import { createWebHttpExchange } from '../../src/server/runtime/web-http-exchange.ts'

function open() {
  const budget = createMemoryBudget({ totalBytes: 1000, bytesPerTenant: 1000 })
  const memory = budget.trackRequest('t')
  const own = createWebHttpExchange(new Request('http://localhost/'), () => undefined)
  return { memory, ...releaseMemoryAtEnd(own, memory) }
}

test('memory that a request claims in work that began before is released when the work ends (C158)', async () => {
  const { exchange, memory, onHandled } = open()
  const loading = Promise.withResolvers<void>()
  exchange.waitUntil(loading.promise)
  onHandled()
  memory.claim({ bytes: 100 })
  expect(memory.claimedBytes()).toBeGreaterThan(0)
  loading.resolve()
  await expect.poll(memory.claimedBytes).toBe(0)
  expect(() => memory.claim({ bytes: 100 })).toThrow('has ended')
})

test('memory that a request claims during its streamed answer is released when the stream ends (C158)', async () => {
  const { exchange, memory, onHandled } = open()
  let client: ClientStream | null = null
  exchange.startStream(200, {}, (started) => void (client = started))
  onHandled()
  memory.claim({ bytes: 100 })
  expect(memory.claimedBytes()).toBeGreaterThan(0)
  ;(client as ClientStream | null)?.end('')
  await expect.poll(memory.claimedBytes).toBe(0)
})
