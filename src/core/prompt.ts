/** What a model is asked, free of any dialect: the items and the settings of one request. */
import type { Item } from './item.ts'
import type { Json, JsonObject } from './json/json.ts'

export type DialectName = 'chat' | 'responses'

export interface Prompt {
  readonly items: readonly Item[]
  readonly params: PromptParameters
  readonly stream: boolean
  /** Whether the client is to be told the usage though it did not ask. */
  readonly wantsUsage?: boolean
  /** From so many tokens on the upstream is to compact what it is sent. Only of one that can. */
  readonly compactAbove?: number
  /** What the client wrote, for a wire that speaks the client's language. */
  readonly source: PromptSource
}

/**
 * The request as it came. While `prompt.items === source.items` and `prompt.params ===
 * source.params`, a wire of the same language may send `bytes` on unchanged.
 */
export interface PromptSource {
  readonly dialect: DialectName
  readonly body: JsonObject
  /** Those of `body`. */
  readonly bytes: () => Uint8Array
  readonly items: readonly Item[]
  readonly params: PromptParameters
}

/**
 * The settings that more than one wire has a word for. `null` means that the client did not say.
 * A dialect fills this in completely; a provider that cannot express a set value writes a note.
 */
export interface PromptParameters {
  readonly model: string
  /** Text in front of everything; of this request only, never part of the history. */
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
   * Every other field of the body that is meant for the model's side, as the client wrote it.
   * A wire of the same language passes them on; any other writes a note for each.
   */
  readonly extra: JsonObject
}

export type Tool = FunctionTool | CustomTool | OpaqueTool

export interface FunctionTool {
  readonly type: 'function'
  readonly name: string
  readonly description: string | null
  readonly parameters: JsonObject | null
  /** Always explicit: the default differs between the wires. */
  readonly strict: boolean
}

export interface CustomTool {
  readonly type: 'custom'
  readonly name: string
  readonly description: string | null
  readonly format: Json
}

/** A hosted tool, or one from the future: only a wire of the client's own language can have it. */
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
