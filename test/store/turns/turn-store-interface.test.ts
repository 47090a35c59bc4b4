import { describe } from 'vitest'
import { chainContract } from '../contract-chain.ts'
import { turnContract } from '../contract.ts'
import { ENGINES_PLAIN_AND_ENCRYPTED } from '../engines.ts'

describe.each(ENGINES_PLAIN_AND_ENCRYPTED)('a turn store on %s', (_, open, encryption) => {
  turnContract(open, encryption)
  chainContract(open, encryption)
})
