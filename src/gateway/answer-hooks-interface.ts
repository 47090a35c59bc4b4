/**
 * Defines the functions of `explain/` that the gateway calls for each answer. The gateway does not import them,
 * because `explain/` imports the gateway; the entry points pass them in.
 */
import type { Caller } from '../core/client/caller.ts'
import type { Log } from '../core/ports/log-interface.ts'
import type { Settings } from '../settings/read-settings.ts'
import type { UpstreamRequestStore } from '../store/upstream-requests/upstream-request-store-interface.ts'
import type { AfterAnswerWork, AnsweredRequest } from './after-answer/run-after-answer.ts'
import type { PreparedRequest } from './prompt/planned-request.ts'

export interface AnswerHooks {
  /** Returns the value of the header `x-backstory-context`; null if it cannot be computed. */
  readonly formatContextHeader: (
    prepared: PreparedRequest,
    caller: Caller,
    ports: AnswerHookPorts,
  ) => Promise<string | null>
  /**
   * Returns the work that stores the sent requests for later explanations; null if there is nothing to
   * store.
   */
  readonly storeSentRequests: (
    answered: AnsweredRequest,
    ports: AnswerHookPorts,
  ) => AfterAnswerWork | null
}

export interface AnswerHookPorts {
  readonly settings: Settings
  readonly requests: UpstreamRequestStore
  readonly log: Log
}
