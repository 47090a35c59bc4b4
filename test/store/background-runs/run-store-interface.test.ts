import { describe } from 'vitest'
import { testRuns } from '../contract-runs.ts'
import { ENGINES_PLAIN_AND_ENCRYPTED } from '../engines.ts'

describe.each(ENGINES_PLAIN_AND_ENCRYPTED)('background runs on %s', (_, open, encryption) => {
  testRuns(open, encryption)
})
