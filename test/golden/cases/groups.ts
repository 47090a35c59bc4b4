/** All groups of the corpus. */
import type { GoldenGroup } from '../golden-case.ts'
import { ANSWERS } from './answers.ts'
import { FIELD_CASES } from './fields.ts'
import { TOOLS } from './tools.ts'

export const GROUPS: readonly GoldenGroup[] = [ANSWERS, TOOLS, FIELD_CASES]
