import { describe } from 'vitest'
import { testOwners } from './contract-owner.ts'
import { ENGINES } from './engines.ts'

describe.each(ENGINES)('owners of rows on %s', (_, open) => testOwners(open))
