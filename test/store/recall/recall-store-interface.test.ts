import { describe } from 'vitest'
import { expiryAndDeletionContract } from '../contract-expiry-and-deletion.ts'
import { recallContract } from '../contract-recall.ts'
import { ENGINES_PLAIN_AND_ENCRYPTED } from '../engines.ts'

describe.each(ENGINES_PLAIN_AND_ENCRYPTED)('recall of turns on %s', (_, open, encryption) =>
  recallContract(open, encryption),
)
describe.each(ENGINES_PLAIN_AND_ENCRYPTED)('expiry and deletion on %s', (_, open, encryption) =>
  expiryAndDeletionContract(open, encryption),
)
