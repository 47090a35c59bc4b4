/**
 * Defines the interface of memory layers. A layer is a memory beside the conversation that adds a
 * block of text to the prompt, e.g. the model's working memory, observations, or facts that match
 * the question. To add a layer, add a file with a `MemoryLayer`, a line in `layer-registry.ts`, and
 * a field in `LayerRules` that enables the layer.
 *
 * All layers load in parallel, each with its own timeout. A layer that fails or is late is left
 * out, and the answer does not fail.
 */
import type { Item } from '../core/item.ts'
import type { Outcome } from '../core/collect-answer-outcome.ts'
import type { LayerRules } from '../core/context-policy.ts'
import type { Caller } from '../core/client/caller.ts'
import type { Log } from '../core/ports/log-interface.ts'
import type { FactStore } from '../store/facts/fact-store-interface.ts'
import type { MemoryLayerStore } from '../store/memory-layers/memory-layer-store-interface.ts'

export interface MemoryLayer {
  /** Name of the layer, and of the tag around its block, e.g. `facts`. */
  readonly name: string
  /**
   * Blocks at the same position are inserted in ascending order of this number. Tokens that are
   * lost when the token limit is divided go to the layers with the lowest numbers.
   */
  readonly order: number
  readonly isEnabled: (rules: LayerRules) => boolean
  /**
   * `stable`: the block is sent before the history and must change rarely (versioned memories:
   * every 20 rounds); changes in between are sent before the question of their round. `volatile`:
   * the complete text is sent before the latest question and may change with every question.
   */
  readonly getStability: (context: Pick<LayerContext, 'owner' | 'rules'>) => LayerStability
  /**
   * The layer gets at most `maxTokens` tokens, and at least `minTokens` if the policy's limit
   * allows the minimums of all layers.
   */
  readonly minTokens: number
  readonly maxTokens: number
  /** Time after which the layer is left out, at most 5,000 ms. */
  readonly timeoutMs: number
  /**
   * Resolves to the layer's block, or to `null` if there is nothing to send. May throw. The text
   * must not change without new data, because a change invalidates the provider's cache.
   */
  readonly loadBlock: (context: LayerContext, defer: RunInBackground) => Promise<LayerBlock | null>
  /** Updates the stored memory in the background after a completed answer. May throw. */
  readonly update?: (context: LayerContext, answer: LayerAnswer) => Promise<void>
}

export type LayerStability = 'stable' | 'volatile'

/**
 * Registers work that continues after the answer. Some hosts, e.g. Workers, stop work that is not
 * registered.
 */
export type RunInBackground = (work: Promise<unknown>) => void

export interface LayerContext {
  readonly owner: Caller
  /**
   * Key under which the memories of this conversation are stored. `null` if the key is not known
   * yet, or if nothing is stored.
   */
  readonly thread: string | null
  /**
   * Id of the latest stored turn before this answer; `null` if there is none. If that turn has been
   * deleted by the time a version is saved, the version is not kept.
   */
  readonly parent: string | null
  readonly isTemporary: boolean
  /**
   * Time at which the request began. Data is not stored if its source was deleted after this time.
   */
  readonly jobStartedAtMs: number
  /** The complete conversation before the answer, before the context policy shortens it. */
  readonly items: readonly Item[]
  /**
   * Number of the latest question, counted from 1 in the complete conversation, so that all
   * replicas use the same number.
   */
  readonly round: number
  /** The text of the latest question. */
  readonly question: string
  readonly model: string
  readonly rules: LayerRules
  /** Limit of this layer in estimated tokens; the same in every request with this policy. */
  readonly tokenLimit: number
  readonly ports: LayerPorts
}

/** The stores and functions that a layer may use. */
export interface LayerPorts {
  readonly facts: FactStore
  readonly layers: MemoryLayerStore
  readonly log: Log
  readonly nowMs: () => number
  readonly newTurnId: () => string
}

/** The text of one layer, without its tag. */
export interface LayerBlock {
  /**
   * The text of the block. For a versioned stable layer: the last snapshot of its memory. A
   * snapshot is made every 20 rounds (1–20, 21–40, …), and earlier if the changes exceed their
   * token limit. `''` if the memory was empty then.
   */
  readonly text: string
  /** For a stable layer: the later changes of its memory, which stay where they were first sent. */
  readonly changes?: readonly LayerChange[]
  /**
   * Returns the text in at most this many tokens (by `estimateTokens`), or `null` if so short a
   * text would be useless. A block without this function is left out if it is too long.
   */
  readonly shortenTo?: (tokens: number) => string | null
}

export interface LayerChange {
  /** Number of a round, from 1. The change is sent before the question of this round. */
  readonly round: number
  readonly text: string
}

export interface LayerAnswer {
  readonly outcome: Outcome
  /**
   * Sends a request to the model that answered, or to the model that the policy names. Throws if
   * the answer is incomplete.
   */
  readonly askModel: (request: LayerModelRequest) => Promise<string>
}

export interface LayerModelRequest {
  readonly instructions: string
  readonly input: string
}
