import { describe } from 'vitest'
import { testTurnManagement } from '../contract-turn-management.ts'
import { testConversations } from '../contract-conversations.ts'
import { ENGINES_PLAIN_AND_ENCRYPTED } from '../engines.ts'

describe.each(ENGINES_PLAIN_AND_ENCRYPTED)('turn management store on %s', (_, open, encryption) =>
  testTurnManagement(open, encryption),
)
describe.each(ENGINES_PLAIN_AND_ENCRYPTED)('conversations on %s', (_, open, encryption) =>
  testConversations(open, encryption),
)
