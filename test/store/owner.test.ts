import { describe } from 'vitest'
import { ownerContract } from './contract-owner.ts'
import { ENGINES } from './engines.ts'

describe.each(ENGINES)('whose it is on %s', (_, open) => ownerContract(open))
