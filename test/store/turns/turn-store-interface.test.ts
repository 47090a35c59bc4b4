import { describe } from 'vitest'
import { chainContract } from '../contract-chain.ts'
import { turnContract } from '../contract.ts'
import { SEALED_OR_NOT } from '../engines.ts'

describe.each(SEALED_OR_NOT)('a store on %s', (_, open, vault) => {
  turnContract(open, vault)
  chainContract(open, vault)
})
