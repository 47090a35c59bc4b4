/**
 * Defines a gateway tool: the gateway offers it to the model and runs its calls itself. To add a tool, add
 * a file with a `GatewayTool` and a line in `offer-tools.ts`.
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
   * Definition for the model. A definition that differs between requests invalidates the provider's prompt
   * cache.
   */
  readonly tool: FunctionTool
  /** Returns text that is appended to the tool's description for this policy. */
  readonly extendDescription?: (policy: ContextPolicy) => string
  readonly isOffered: (context: ToolOfferContext) => boolean
  /**
   * Runs a call. Returns the output, which is at most as long as the policy allows. Mistakes in the
   * arguments are returned as text: if `run` throws, the model only learns that the tool failed.
   */
  readonly run: (args: JsonObject, context: ToolRunContext) => ToolAnswer | Promise<ToolAnswer>
}

export type ToolAnswer = string | readonly Part[]

/** The parts of a request that decide which gateway tools are offered. */
export interface ToolOfferContext {
  readonly policy: ContextPolicy
  /** The complete conversation, including items that the transforms will drop. */
  readonly items: readonly Item[]
  /** The request parameters that the client sent, e.g. its own tools. */
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
  /** The items that the model may read, i.e. without those before a reset and those of hidden authors. */
  readonly readableItems: readonly Item[]
  readonly caller: Caller
  readonly ports: LayerPorts
  /** Thread under which memory is stored; undefined if no memory is stored. */
  readonly memoryThread?: MemoryThread
}
