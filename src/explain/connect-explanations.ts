/** Lists the functions that the gateway calls for explanations: one builds a header, one stores requests. */
import type { AnswerHooks } from '../gateway/answer-hooks-interface.ts'
import { buildContextResponseHeader } from './context-response-header.ts'
import { storeSentRequests } from './store-sent-requests.ts'

export const EXPLAIN_HOOKS: AnswerHooks = {
  formatContextHeader: buildContextResponseHeader,
  storeSentRequests,
}
