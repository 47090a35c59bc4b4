/** Lets policies cut short conversations, too, so that tests of cuts need no long ones. */
import type { PolicyOverrides } from '../../src/core/context-policy.ts'

export const CUTS_AT_ANY_LENGTH: PolicyOverrides = { cuts: { minChars: 0 } }
