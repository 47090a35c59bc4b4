import { describe } from 'vitest'
import { testChains } from '../contract-chain.ts'
import { testTurns } from '../contract-turns.ts'
import { ENGINES_PLAIN_AND_ENCRYPTED } from '../engines.ts'

describe.each(ENGINES_PLAIN_AND_ENCRYPTED)('turn store on %s', (_, open, encryption) => {
  testTurns(open, encryption)
  testChains(open, encryption)
})
