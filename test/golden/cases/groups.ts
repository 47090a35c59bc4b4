/** All groups of the corpus. */
import type { GoldenGroup } from '../golden-case.ts'
import { ANSWERS } from './answers.ts'
import { BAD_REQUESTS } from './bad-requests.ts'
import { FAILURES } from './failures.ts'
import { FIELD_CASES } from './fields.ts'
import { MEMORIES } from './memories.ts'
import { ODD_CONVERSATIONS } from './odd-conversations.ts'
import { OTHER_ENDPOINTS } from './other-endpoints.ts'
import { POLICY_CASES } from './policies.ts'
import { PROFILE_CASES } from './profiles.ts'
import { STATE } from './state.ts'
import { TEXT_CLIENTS } from './text-clients.ts'
import { TOOLS } from './tools.ts'

export const GROUPS: readonly GoldenGroup[] = [
  ANSWERS,
  TOOLS,
  FIELD_CASES,
  PROFILE_CASES,
  STATE,
  TEXT_CLIENTS,
  POLICY_CASES,
  MEMORIES,
  ODD_CONVERSATIONS,
  FAILURES,
  BAD_REQUESTS,
  OTHER_ENDPOINTS,
]
