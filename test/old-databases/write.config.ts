/** Configuration of the command that writes the old databases; see `write-old-databases.ts`. */
import { defineConfig } from 'vitest/config'
import whole from '../vitest.config.ts'

export default defineConfig({
  ...whole,
  root: new URL('../..', import.meta.url).pathname,
  test: {
    ...whole.test,
    include: ['test/old-databases/write-old-databases.ts'],
    testTimeout: 300_000,
  },
})
