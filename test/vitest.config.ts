import { randomInt } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

// Set here, because the workers inherit environment variables.
process.env['SAMPLE_SEED'] ??= String(randomInt(1_000_000))

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/fixed-seed.ts', 'test/support/each-test.ts'],
    globalSetup: ['test/support/print-sample.ts', 'test/support/postgres-setup.ts'],
    // Loading the gateway for each file takes longer than most files.
    isolate: false,
    // Many tests wait for timers and processes, so there are more workers than cores.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
})
