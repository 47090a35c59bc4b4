import { describe } from 'vitest'
import { testExpiryAndDeletion } from '../contract-expiry-and-deletion.ts'
import { ENGINES_PLAIN_AND_ENCRYPTED } from '../engines.ts'

describe.each(ENGINES_PLAIN_AND_ENCRYPTED)('expiry and deletion on %s', (_, open, encryption) =>
  testExpiryAndDeletion(open, encryption),
)
