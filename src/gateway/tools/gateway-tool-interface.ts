/**
 * Defines a gateway tool: the gateway offers it to the model and runs its calls during the answer. A new tool is a
 * file with a `GatewayTool`, and a line in `offer-tools.ts`.
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
  /** The definition for the model, best the same for all requests: a change invalidates the provider's prompt cache. */
  readonly tool: FunctionTool
  /** Returns text to add to the description under this policy. */
  readonly extendDescription?: (policy: ContextPolicy) => string
  readonly isOffered: (context: ToolOfferContext) => boolean
  /**
   * Returns the output, no longer than the policy allows. If it throws, the model gets a failure without the error's
   * message, so a mistake in the arguments is better returned as text.
   */
  readonly run: (args: JsonObject, context: ToolRunContext) => ToolAnswer | Promise<ToolAnswer>
}

export type ToolAnswer = string | readonly Part[]

/** The parts of a request that decide which tools are offered. */
export interface ToolOfferContext {
  readonly policy: ContextPolicy
  /** The complete conversation, before any items are dropped. */
  readonly items: readonly Item[]
  /** The parameters that the client sent. */
  readonly params: PromptParameters
  /** The kinds of media that the model accepts. */
  readonly visibleKinds: ReadonlySet<MediaKind>
  /** True for a task request, such as for a chat title. */
  readonly isTask: boolean
  /** False if nothing of the conversation may be stored; undefined is true. */
  readonly mayStore?: boolean
}

/** The parts of a request that a tool can read when it runs. */
export interface ToolRunContext {
  readonly policy: ContextPolicy
  /** All items before the answer, unchanged. */
  readonly items: readonly Item[]
  /** The items that the model may read: not those before a reset, nor of hidden authors. */
  readonly readableItems: readonly Item[]
  readonly caller: Caller
  readonly ports: LayerPorts
  /** The thread that memory is stored under; undefined if none is stored. */
  readonly memory?: MemoryThread
}
