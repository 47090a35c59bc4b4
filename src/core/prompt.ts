/** Defines the items and parameters of one upstream request, independent of dialect and wire. */
import type { Item } from './item.ts'
import type { Json, JsonObject } from './json/json.ts'

export type DialectName = 'chat' | 'responses'

export interface Prompt {
  readonly items: readonly Item[]
  readonly params: PromptParameters
  readonly stream: boolean
  /** True if the upstream has to report token usage although the client did not request it. */
  readonly wantsUsage?: boolean
  /** Input tokens above which the upstream compacts the prompt. Set only for upstreams that can compact. */
  readonly compactAbove?: number
  /** The original client request, which may be forwarded to an upstream with the same API. */
  readonly source: PromptSource
}

/**
 * The client's request before any transform. While `prompt.items === source.items` and `prompt.params
 * === source.params`, nothing was changed, and an upstream with the same API may be sent `bytes`.
 */
export interface PromptSource {
  readonly dialect: DialectName
  readonly body: JsonObject
  /** Returns the JSON bytes of `body`. */
  readonly bytes: () => Uint8Array
  readonly items: readonly Item[]
  readonly params: PromptParameters
}

/**
 * Parameters that more than one upstream API supports. Null means that the client did not set the
 * parameter. For a set parameter without an equivalent in the upstream API, a note is written.
 */
export interface PromptParameters {
  readonly model: string
  /** Text before all items, for this request only: the next request does not inherit it. */
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
  /** E.g. `auto`, `concise` or `detailed`. */
  readonly reasoningSummary: string | null
  readonly serviceTier: string | null
  readonly promptCacheKey: string | null
  readonly safetyIdentifier: string | null
  readonly user: string | null
  readonly include: readonly string[]
  /**
   * All other body fields for the upstream. They are forwarded to an upstream with the same API; for
   * any other, a note is written for each field.
   */
  readonly extra: JsonObject
}

export type Tool = FunctionTool | CustomTool | OpaqueTool

export interface FunctionTool {
  readonly type: 'function'
  readonly name: string
  readonly description: string | null
  readonly parameters: JsonObject | null
  /** Always set, because the default differs between APIs. */
  readonly strict: boolean
  readonly extra?: ExtraToolFields
}

export interface CustomTool {
  readonly type: 'custom'
  readonly name: string
  readonly description: string | null
  readonly format: Json
  readonly extra?: ExtraToolFields
}

/**
 * The other fields of a tool, e.g. `defer_loading`; undefined if there are none. They are sent to
 * an upstream with the client's API; for any other, a note is written for each field.
 */
export type ExtraToolFields = JsonObject

/** A provider-hosted or unknown tool, which can be sent only to an upstream with the client's API. */
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
