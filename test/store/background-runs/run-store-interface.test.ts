import { describe } from 'vitest'
import { runContract } from '../contract-runs.ts'
import { ENGINES_PLAIN_AND_ENCRYPTED } from '../engines.ts'

describe.each(ENGINES_PLAIN_AND_ENCRYPTED)('a run store on %s', (_, open, encryption) => {
  runContract(open, encryption)
})
