import { describe } from 'vitest'
import { archiveContract } from '../contract-archive.ts'
import { conversationContract } from '../contract-conversations.ts'
import { SEALED_OR_NOT } from '../engines.ts'

describe.each(SEALED_OR_NOT)('an archive on %s', (_, open, vault) => archiveContract(open, vault))
describe.each(SEALED_OR_NOT)('conversations on %s', (_, open, vault) =>
  conversationContract(open, vault),
)
