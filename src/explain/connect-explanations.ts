/**
 * Connects explanations to the gateway, which calls one function to build a header and one to store
 * requests.
 */
import type { AnswerHooks } from '../gateway/answer-hooks-interface.ts'
import { buildContextResponseHeader } from './context-response-header.ts'
import { storeSentRequests } from './store-sent-requests.ts'

export const EXPLAIN_HOOKS: AnswerHooks = {
  formatContextHeader: buildContextResponseHeader,
  storeSentRequests,
}
