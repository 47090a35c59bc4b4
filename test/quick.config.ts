/**
 * Configuration of `npm run check`: runs the tests that are fast and need no server, many files in one
 * worker, with fewer cases of the slowest properties. `npm test` runs all of them.
 */
import { defineConfig } from 'vitest/config'
import whole from './vitest.config.ts'

export default defineConfig({
  ...whole,
  test: {
    ...whole.test,
    exclude: [
      'test/{e2e,examples,background,store,old-databases,golden}/**',
      'test/server/{websocket,stored-object-routes}/**',
      'test/upstream/transport/**',
      'test/media/loading/media-fetchers.test.ts',
      'test/context/laws/laws-soak-*.test.ts',
      'test/main/commands/**',
      'test/server/endpoints/list-models.test.ts',
      'test/explain/cache-miss/predict-cache-hit.test.ts',
      'test/gateway/record/expire-unused-turns.test.ts',
      'test/simulate/policies.test.ts',
      'test/support/watch-explained.test.ts',
    ],
    globalSetup: [],
    env: { LAWS_RUNS: '10' },
    fsModuleCache: true,
  },
})
