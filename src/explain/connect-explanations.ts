/** Connects the explanations to the request path: the context header, and storing of sent requests. */
import type { AnswerHooks } from '../gateway/answer-hooks-interface.ts'
import { buildContextResponseHeader } from './context-response-header.ts'
import { storeSentRequests } from './store-sent-requests.ts'

export const EXPLAIN_HOOKS: AnswerHooks = {
  formatContextHeader: buildContextResponseHeader,
  storeSentRequests,
}
