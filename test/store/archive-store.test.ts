import { describe } from 'vitest'
import { archiveContract } from './contract-archive.ts'
import { conversationContract } from './contract-conversations.ts'
import { ENGINES } from './engines.ts'

describe.each(ENGINES)('an archive on %s', (_, open) => archiveContract(open))
describe.each(ENGINES)('conversations on %s', (_, open) => conversationContract(open))
