import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/fixed-seed.ts', 'test/support/each-test.ts'],
    globalSetup: ['test/support/postgres-setup.ts'],
    // One worker less than there are cores, which is the default, is half of a machine with two.
    maxWorkers: '100%',
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
})
