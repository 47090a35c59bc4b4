/**
 * A tool of the house: offered to a model by the gateway, and answered by the gateway in the middle of
 * an answer. To have another one is a file with a `GatewayTool`, and a line in `offer-tools.ts`.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { Item, Part } from '../../core/item.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { MediaKind } from '../../core/media/content-part-media.ts'
import type { ContextPolicy } from '../../core/context-policy.ts'
import type { FunctionTool, PromptParameters } from '../../core/prompt.ts'
import type { MemoryThread } from '../history/memory-thread-and-storage-permission.ts'
import type { LayerPorts } from '../../memory/memory-layer-interface.ts'

export interface GatewayTool {
  /** The same in every request of a conversation, as far as that can be: it stands in front of it. */
  readonly tool: FunctionTool
  /** What else its description says under this policy. */
  readonly moreWords?: (policy: ContextPolicy) => string
  readonly isOffered: (asking: ToolOfferContext) => boolean
  /**
   * What it answers, in as many words as the policy lets stand. What it throws is told to the model as
   * a failure of the tool, without its words; a mistake in the arguments is better answered in text.
   */
  readonly run: (given: JsonObject, context: ToolRunContext) => ToolAnswer | Promise<ToolAnswer>
}

export type ToolAnswer = string | readonly Part[]

/** A request, as far as it decides what is offered. */
export interface ToolOfferContext {
  readonly policy: ContextPolicy
  /** Everything there is, before anything is left out. */
  readonly items: readonly Item[]
  /** As its client wants them. */
  readonly params: PromptParameters
  /** What the model can see, hear or read. */
  readonly sees: ReadonlySet<MediaKind>
  /** Whether it is housekeeping, and no conversation. */
  readonly isTask: boolean
  /** Whether anything may be kept of it; without a word, it may. */
  readonly mayKeep?: boolean
}

/** What a tool may know of the request that it is called in. */
export interface ToolRunContext {
  readonly policy: ContextPolicy
  /** Everything that was said before the answer, in its own words. */
  readonly items: readonly Item[]
  /** What of it the model may ask for. */
  readonly withinReach: readonly Item[]
  readonly caller: Caller
  readonly ports: LayerPorts
  /** Where memories beside this conversation are kept, if anything is. */
  readonly memory?: MemoryThread
}
