import { createMemoryBudget } from '../../src/gateway/request-memory.ts'

/** For tests in which the memory of requests plays no part. */
export const UNLIMITED_MEMORY = createMemoryBudget({
  totalBytes: Infinity,
  bytesPerTenant: Infinity,
})
