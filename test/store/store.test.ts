import { describe } from 'vitest'
import { chainContract } from './contract-chain.ts'
import { turnContract } from './contract.ts'
import { ENGINES } from './engines.ts'

describe.each(ENGINES)('a store on %s', (_, open) => {
  turnContract(open)
  chainContract(open)
})
