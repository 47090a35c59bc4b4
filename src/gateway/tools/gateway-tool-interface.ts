/**
 * Defines a gateway tool: a tool that the gateway offers to the model, and whose calls it runs itself. To
 * add a tool, add a file with a `GatewayTool` and a line in `offer-tools.ts`.
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
  /**
   * Definition for the model. It should be the same in all requests, because a changed definition
   * invalidates the prompt cache of the provider.
   */
  readonly tool: FunctionTool
  /** Returns text that is appended to the tool's description for this policy. */
  readonly extendDescription?: (policy: ContextPolicy) => string
  readonly isOffered: (context: ToolOfferContext) => boolean
  /**
   * Runs a call. Returns the output, which is at most as long as the policy allows. Mistakes in the
   * arguments are returned as text, because the model learns no reason if `run` throws.
   */
  readonly run: (args: JsonObject, context: ToolRunContext) => ToolAnswer | Promise<ToolAnswer>
}

export type ToolAnswer = string | readonly Part[]

/** The parts of a request that decide which gateway tools are offered. */
export interface ToolOfferContext {
  readonly policy: ContextPolicy
  /** The complete conversation, including items that the transforms will drop. */
  readonly items: readonly Item[]
  /** The request parameters as the client sent them, i.e. with only its own tools. */
  readonly clientParams: PromptParameters
  /** Kinds of media that the model accepts, e.g. `image`. */
  readonly visibleMediaKinds: ReadonlySet<MediaKind>
  /** True for a task request of Open WebUI, e.g. for a chat title. */
  readonly isTask: boolean
  /** False if the conversation must not be stored; undefined means true. */
  readonly mayStore?: boolean
}

/** The parts of a request that a gateway tool can use when it runs. */
export interface ToolRunContext {
  readonly policy: ContextPolicy
  /** All items before the answer, as they were before the transforms. */
  readonly items: readonly Item[]
  /** The items that the model may read: not those before a reset, and not those of hidden authors. */
  readonly readableItems: readonly Item[]
  readonly caller: Caller
  readonly ports: LayerPorts
  /**
   * Where memory is stored: `thread` is the id of the conversation, or without one that of the chat's first
   * turn. Also whether the chat is temporary.
   */
  readonly memoryThread?: MemoryThread
}
