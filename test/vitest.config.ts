import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/fixed-seed.ts'],
    globalSetup: ['test/support/postgres-setup.ts'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
})
