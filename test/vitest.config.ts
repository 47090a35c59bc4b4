import { randomInt } from 'node:crypto'
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
    // The default is one worker less than there are cores, which is half of a machine with two.
    maxWorkers: '100%',
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
})
