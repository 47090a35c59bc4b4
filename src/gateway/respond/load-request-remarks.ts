/**
 * Loads two facts about a request that are sent with its response: the value of the header `x-backstory-context`, and the
 * reason why earlier reasoning was left out, which Open WebUI shows above the answer.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { ExplainHookPorts, ExplainHooks } from '../explain-hooks-interface.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import { showsStatusLines } from './choose-open-webui-status.ts'

export interface RequestRemarks {
  /** Value of the header `x-backstory-context`; null if the client did not request the header. */
  readonly contextHeader: string | null
  /** Why this request is the first to leave out earlier reasoning; null if it is not, or if the cause is unknown. */
  readonly lostReasoningCause: string | null
}

export async function loadRequestRemarks(
  prepared: PreparedRequest,
  caller: Caller,
  addsContextHeader: boolean | undefined,
  ports: ExplainHookPorts & { readonly hooks: ExplainHooks },
): Promise<RequestRemarks> {
  const { hooks } = ports
  return {
    contextHeader:
      addsContextHeader === true ? await hooks.formatContextHeader(prepared, caller, ports) : null,
    lostReasoningCause: showsStatusLines(prepared.clientRequest.client)
      ? await hooks.findLostReasoningCause(prepared, caller, ports)
      : null,
  }
}
