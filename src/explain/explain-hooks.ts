/**
 * Connects explanations to the gateway, which calls one function to build a header and one to store
 * requests.
 */
import type { ExplainHooks } from '../gateway/explain-hooks-interface.ts'
import { formatContextHeader } from './context-response-header.ts'
import { storeSentRequests } from './store-sent-requests.ts'

export const EXPLAIN_HOOKS: ExplainHooks = {
  formatContextHeader,
  storeSentRequests,
}
