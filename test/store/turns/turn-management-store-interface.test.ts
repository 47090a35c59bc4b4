import { describe } from 'vitest'
import { archiveContract } from '../contract-archive.ts'
import { conversationContract } from '../contract-conversations.ts'
import { ENGINES_PLAIN_AND_ENCRYPTED } from '../engines.ts'

describe.each(ENGINES_PLAIN_AND_ENCRYPTED)('a turn management store on %s', (_, open, encryption) =>
  archiveContract(open, encryption),
)
describe.each(ENGINES_PLAIN_AND_ENCRYPTED)('conversations on %s', (_, open, encryption) =>
  conversationContract(open, encryption),
)
