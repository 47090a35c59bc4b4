/**
 * Connects explanations to the gateway, which calls a function to build a header, one to name the cause of
 * lost reasoning, and one to store requests.
 */
import type { ExplainHooks } from '../gateway/explain-hooks-interface.ts'
import { formatContextHeader } from './context-response-header.ts'
import { findLostReasoningCause } from './lost-reasoning-cause.ts'
import { storeSentRequests } from './store-sent-requests.ts'

export const EXPLAIN_HOOKS: ExplainHooks = {
  findLostReasoningCause,
  formatContextHeader,
  storeSentRequests,
}
