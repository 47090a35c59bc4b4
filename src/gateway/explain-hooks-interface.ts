/**
 * Defines the functions of `explain/` that the gateway calls for an answer. The gateway cannot import them,
 * because `explain/` imports the gateway. The entry points (`main/`) pass them in instead.
 */
import type { Caller } from '../core/client/caller.ts'
import type { Log } from '../core/ports/log-interface.ts'
import type { Settings } from '../settings/read-settings.ts'
import type { UpstreamRequestStore } from '../store/upstream-requests/upstream-request-store-interface.ts'
import type { AfterAnswerWork, AnsweredRequest } from './after-answer/run-tasks-after-answer.ts'
import type { PreparedRequest } from './prompt/planned-request.ts'

export interface ExplainHooks {
  /** Returns the value of the header `x-backstory-context`; null if it cannot be computed. */
  readonly formatContextHeader: (
    prepared: PreparedRequest,
    caller: Caller,
    ports: ExplainHookPorts,
  ) => Promise<string | null>
  /**
   * Returns why reasoning can no longer be sent, in words that follow a colon, e.g. `the tools changed`; null if no
   * reasoning is newly lost, or if the cause cannot be found.
   */
  readonly findLostReasoningCause: (
    prepared: PreparedRequest,
    caller: Caller,
    ports: ExplainHookPorts,
  ) => Promise<string | null>
  /**
   * Returns the work that stores the sent requests, so that they can be explained later; null if they are not
   * to be stored.
   */
  readonly storeSentRequests: (
    answered: AnsweredRequest,
    ports: ExplainHookPorts,
  ) => AfterAnswerWork | null
}

export interface ExplainHookPorts {
  readonly settings: Settings
  readonly requests: UpstreamRequestStore
  readonly log: Log
}
