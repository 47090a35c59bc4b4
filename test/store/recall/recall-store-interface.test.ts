import { describe } from 'vitest'
import { forgetContract } from '../contract-forget.ts'
import { recallContract } from '../contract-recall.ts'
import { SEALED_OR_NOT } from '../engines.ts'

describe.each(SEALED_OR_NOT)('recall on %s', (_, open, vault) => recallContract(open, vault))
describe.each(SEALED_OR_NOT)('forgetting on %s', (_, open, vault) => forgetContract(open, vault))
