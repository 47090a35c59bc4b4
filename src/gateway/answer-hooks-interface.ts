/**
 * Defines what the explanations add to an answer. The entry points pass it in, because `explain/`
 * imports the request path and must not be imported by it.
 */
import type { Caller } from '../core/client/caller.ts'
import type { GatewayDependencies } from './dependencies-interface.ts'
import type { AfterAnswerTask } from './after-answer/run-after-answer.ts'
import type { PreparedRequest } from './prompt/prepare-request.ts'

export interface AnswerHooks {
  /** Returns the text of the header `x-backstory-context`, or null if the request did not ask for it. */
  readonly formatContextHeader: (
    prepared: PreparedRequest,
    caller: Caller,
    world: GatewayDependencies,
  ) => Promise<string | null>
  /** Stores the requests that were sent upstream, so that the answer can be explained later. */
  readonly storeSentRequests: AfterAnswerTask
}
