/** Defines a request for one upstream, as planned and as encoded. */
import type { ClientRequest } from '../../core/client-request.ts'
import type { ContextPolicy } from '../../core/context-policy.ts'
import type { Item } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import type { Prompt } from '../../core/prompt.ts'
import type { Account, Provider, EncodedRequest } from '../../providers/provider-interface.ts'
import type { RequestHistory, LoadedHistory } from '../history/loaded-history.ts'
import type { GatewayTool } from '../tools/gateway-tool-interface.ts'

export interface PlannedRequest {
  readonly clientRequest: ClientRequest
  readonly account: Account
  readonly provider: Provider
  readonly history: LoadedHistory
  readonly policy: ContextPolicy
  /** The offered tools that the gateway runs itself; `prompt.params.tools` holds them too. */
  readonly gatewayTools: readonly GatewayTool[]
  /** The complete conversation, before any transform. */
  readonly items: readonly Item[]
  readonly prompt: Prompt
  readonly notes: readonly Note[]
  /** For each item of the prompt its index in `items`, or null if a transform added it. */
  readonly originalPositions: readonly (number | null)[]
  /** A compaction that the gateway made for this request: the first item of the answer. */
  readonly answerPrefix?: Item
  /** True if the upstream rejected the reasoning of an earlier version of this prompt. */
  readonly wasReasoningRejected: boolean
}

/** A request with its history. */
export interface PlanInput extends Pick<RequestHistory, 'clientRequest' | 'history'> {
  /** Max weight of the items in tokens; null or undefined: the conversation is not cut to fit. */
  readonly tokenBudget?: number | null
}

export interface PreparedRequest extends PlannedRequest {
  readonly encoded: EncodedRequest
}
