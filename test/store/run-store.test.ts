import { describe } from 'vitest'
import { runContract } from './contract-runs.ts'
import { ENGINES } from './engines.ts'

describe.each(ENGINES)('a run store on %s', (_, open) => {
  runContract(open)
})
