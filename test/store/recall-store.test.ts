import { describe } from 'vitest'
import { forgetContract } from './contract-forget.ts'
import { recallContract } from './contract-recall.ts'
import { ENGINES } from './engines.ts'

describe.each(ENGINES)('recall on %s', (_, open) => recallContract(open))
describe.each(ENGINES)('forgetting on %s', (_, open) => forgetContract(open))
