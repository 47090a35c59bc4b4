import { describe } from 'vitest'
import { testRecall } from '../contract-recall.ts'
import { ENGINES_PLAIN_AND_ENCRYPTED } from '../engines.ts'

describe.each(ENGINES_PLAIN_AND_ENCRYPTED)('recall of turns on %s', (_, open, encryption) =>
  testRecall(open, encryption),
)
