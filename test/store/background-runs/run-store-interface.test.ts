import { describe } from 'vitest'
import { runContract } from '../contract-runs.ts'
import { SEALED_OR_NOT } from '../engines.ts'

describe.each(SEALED_OR_NOT)('a run store on %s', (_, open, vault) => {
  runContract(open, vault)
})
