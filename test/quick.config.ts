/**
 * What `npm run check` runs: the tests that need no server, many files in one worker, and of the laws that
 * take longest only some cases. `npm test` runs all of them.
 */
import { defineConfig } from 'vitest/config'
import whole from './vitest.config.ts'

export default defineConfig({
  ...whole,
  test: {
    ...whole.test,
    exclude: [
      'test/{e2e,runs,websocket,store,resources,transport}/**',
      'test/*-command.test.ts',
      'test/rebuild/laws-soak.test.ts',
    ],
    globalSetup: [],
    isolate: false,
    env: { LAWS_RUNS: '10' },
  },
})
