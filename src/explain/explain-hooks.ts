/** Connects the explanations to the request path: the context header, and storing of sent requests. */
import type { AnswerHooks } from '../upstream/answer-hooks.ts'
import { contextLineFor } from './context-line.ts'
import { keepSent } from './keep-sent.ts'

export const EXPLAIN_HOOKS: AnswerHooks = {
  formatContextHeader: contextLineFor,
  storeSentRequests: keepSent,
}
