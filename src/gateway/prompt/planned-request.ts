/** Defines the request for one upstream: as planned, and as prepared (planned and encoded). */
import type { PrefixChange } from '../../context/reasoning/find-prefix-change.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import type { ContextPolicy } from '../../core/context-policy.ts'
import type { Item } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import type { Prompt, PromptParameters } from '../../core/prompt.ts'
import type { Account, Provider, EncodedRequest } from '../../providers/provider-interface.ts'
import type { RequestHistory, LoadedHistory } from '../history/loaded-history.ts'
import type { GatewayTool } from '../tools/gateway-tool-interface.ts'

export interface PlannedRequest {
  readonly clientRequest: ClientRequest
  readonly account: Account
  readonly provider: Provider
  readonly history: LoadedHistory
  readonly policy: ContextPolicy
  /** The offered tools that the gateway runs itself. `prompt.params.tools` lists them too. */
  readonly gatewayTools: readonly GatewayTool[]
  /** The complete conversation before all transforms; `prompt.items` is the list after them. */
  readonly items: readonly Item[]
  readonly prompt: Prompt
  readonly notes: readonly Note[]
  /** The parameters in `prompt.params` that the gateway added and the client did not set. */
  readonly addedParameters: readonly AddedParameter[]
  /** For each item of the prompt, its index in `items`; null for an item that a transform added. */
  readonly originalPositions: readonly (number | null)[]
  /** The change of the prompt before the model's latest answer; null without a change, or if the model does not check it. */
  readonly prefixChange: PrefixChange | null
  /** The compaction that the gateway made for this request. It becomes the answer's first item. */
  readonly firstAnswerItem?: Item
  /** True for the second attempt, without reasoning, after the upstream rejected reasoning in the prompt. */
  readonly wasReasoningRejected: boolean
}

/** A parameter that the gateway added to a request (`default-parameters.ts`). */
export interface AddedParameter {
  /** The name of the parameter in notes, e.g. `reasoning.effort`. */
  readonly field: string
  /** The value as text, e.g. `none`. */
  readonly value: string
  readonly changes: Partial<PromptParameters>
  readonly why: 'lowest-effort' | 'summary-requested'
}

/** A request, its history, and the token budget of its prompt. */
export interface PlanInput extends Pick<RequestHistory, 'clientRequest' | 'history'> {
  /** The maximum tokens of all items; null or undefined if the conversation is not cut. */
  readonly tokenBudget?: number | null
}

/** A planned request with its encoding for the upstream's API. */
export interface PreparedRequest extends PlannedRequest {
  readonly encoded: EncodedRequest
}
