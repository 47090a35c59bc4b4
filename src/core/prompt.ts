/** Defines the items and parameters of one upstream request, independent of dialect and wire. */
import type { Item } from './item.ts'
import type { Json, JsonObject } from './json/json.ts'

export type DialectName = 'chat' | 'responses'

export interface Prompt {
  readonly items: readonly Item[]
  readonly params: PromptParameters
  readonly stream: boolean
  /** True if the upstream must report token usage although the client did not request it. */
  readonly wantsUsage?: boolean
  /** Input size in tokens above which the upstream compacts the prompt. Set only for upstreams that support it. */
  readonly compactAbove?: number
  /** The client's request, for a wire of the same API. */
  readonly source: PromptSource
}

/**
 * The request before any transform. While `prompt.items === source.items` and `prompt.params ===
 * source.params`, a wire of the same API may forward `bytes` unchanged.
 */
export interface PromptSource {
  readonly dialect: DialectName
  readonly body: JsonObject
  /** Returns `body` as bytes. */
  readonly bytes: () => Uint8Array
  readonly items: readonly Item[]
  readonly params: PromptParameters
}

/**
 * Parameters that more than one wire supports. Null means that the client did not set the parameter.
 * A provider that cannot express a set parameter writes a note.
 */
export interface PromptParameters {
  readonly model: string
  /** Text before all items. Belongs to this request only and is never stored in the history. */
  readonly instructions: string | null
  readonly tools: readonly Tool[]
  readonly toolChoice: ToolChoice | null
  readonly parallelToolCalls: boolean | null
  readonly temperature: number | null
  readonly topP: number | null
  readonly maxOutputTokens: number | null
  readonly stop: readonly string[]
  readonly seed: number | null
  readonly presencePenalty: number | null
  readonly frequencyPenalty: number | null
  readonly topLogprobs: number | null
  readonly format: OutputFormat | null
  readonly verbosity: string | null
  readonly effort: string | null
  /** `auto`, `concise` or `detailed`. */
  readonly reasoningSummary: string | null
  readonly serviceTier: string | null
  readonly promptCacheKey: string | null
  readonly safetyIdentifier: string | null
  readonly user: string | null
  readonly include: readonly string[]
  /**
   * All other body fields that are meant for the upstream. A wire of the same API forwards them; any
   * other wire writes a note for each.
   */
  readonly extra: JsonObject
}

export type Tool = FunctionTool | CustomTool | OpaqueTool

export interface FunctionTool {
  readonly type: 'function'
  readonly name: string
  readonly description: string | null
  readonly parameters: JsonObject | null
  /** Never omitted: the default differs between wires. */
  readonly strict: boolean
}

export interface CustomTool {
  readonly type: 'custom'
  readonly name: string
  readonly description: string | null
  readonly format: Json
}

/** A hosted or unknown tool; only a wire of the client's API can send it. */
export interface OpaqueTool {
  readonly type: 'opaque'
  readonly raw: JsonObject
}

export type ToolChoice =
  | { readonly type: 'auto' | 'none' | 'required' }
  | { readonly type: 'function' | 'custom'; readonly name: string }
  | {
      readonly type: 'allowed'
      readonly mode: 'auto' | 'required'
      readonly names: readonly string[]
    }
  | { readonly type: 'opaque'; readonly raw: JsonObject }

export type OutputFormat =
  | { readonly type: 'text' | 'json_object' }
  | {
      readonly type: 'json_schema'
      readonly name: string
      readonly schema: JsonObject
      readonly strict: boolean | null
      readonly description: string | null
    }
