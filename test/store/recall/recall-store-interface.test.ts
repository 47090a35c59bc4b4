import { describe } from 'vitest'
import { forgetContract } from '../contract-forget.ts'
import { recallContract } from '../contract-recall.ts'
import { ENGINES_PLAIN_AND_ENCRYPTED } from '../engines.ts'

describe.each(ENGINES_PLAIN_AND_ENCRYPTED)('recall on %s', (_, open, encryption) =>
  recallContract(open, encryption),
)
describe.each(ENGINES_PLAIN_AND_ENCRYPTED)('expiry and deletion on %s', (_, open, encryption) =>
  forgetContract(open, encryption),
)
