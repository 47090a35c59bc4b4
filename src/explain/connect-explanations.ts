/** Connects the explanations to the request path: the context header, and storing of sent requests. */
import type { AnswerHooks } from '../gateway/answer-hooks-interface.ts'
import { contextLineFor } from './context-response-header.ts'
import { keepSent } from './store-sent-requests.ts'

export const EXPLAIN_HOOKS: AnswerHooks = {
  formatContextHeader: contextLineFor,
  storeSentRequests: keepSent,
}
