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
   * Layers are sorted by this number. Blocks at the same position in the prompt are inserted in
   * this order, lowest first. The tokens that remain after rounding, when the token limit is
   * divided among the layers, go to the layers with the lowest numbers.
   */
  readonly order: number
  readonly isEnabled: (rules: LayerRules) => boolean
  /**
   * `stable`: the block is sent before the history and must rarely change, e.g. that of a versioned
   * memory every 20 rounds; changes in between are sent before the question of their round.
   * `volatile`: the complete block is sent before the latest question and may change with every
   * question.
   */
  readonly getStability: (context: Pick<LayerContext, 'owner' | 'rules'>) => LayerStability
  /**
   * Share of the policy's token limit for all layers: at most `maxTokens`, and at least `minTokens`
   * if the limit is enough for the minimums of all enabled layers.
   */
  readonly minTokens: number
  readonly maxTokens: number
  /**
   * Time after which the request continues without the layer's block. More than 5,000 ms count as
   * 5,000 ms.
   */
  readonly timeoutMs: number
  /**
   * Resolves to the layer's block, or to `null` if there is nothing to send. May throw. The same
   * stored data and question must give the same text, because a change invalidates the provider's
   * cache.
   */
  readonly loadBlock: (
    context: LayerLoadContext,
    defer: RunInBackground,
  ) => Promise<LayerBlock | null>
  /** Updates the stored memory in the background after a completed answer. May throw. */
  readonly update?: (context: LayerContext, answer: LayerAnswer) => Promise<void>
}

export type LayerStability = 'stable' | 'volatile'

/**
 * Registers work that may continue after the answer was sent. Some hosts, e.g. Cloudflare Workers,
 * stop unregistered work at that time.
 */
export type RunInBackground = (work: Promise<unknown>) => void

export interface LayerContext {
  readonly owner: Caller
  /**
   * Key of the conversation, under which its memories are stored. `null` if the key is not known
   * yet, or if the conversation is not stored.
   */
  readonly thread: string | null
  /**
   * Id of the latest stored turn before this answer; `null` if there is none. If that turn is
   * deleted before a new version of a memory is saved, this version is not stored.
   */
  readonly parent: string | null
  readonly isTemporary: boolean
  /**
   * Time at which the request began. A memory is not stored if the data from which it is derived
   * was deleted after this time.
   */
  readonly jobStartedAtMs: number
  /**
   * All items of the conversation before the answer. The context policy may send only a part of
   * them.
   */
  readonly items: readonly Item[]
  /**
   * Number of the latest question, counted from 1. It is counted in the complete conversation, so
   * that all replicas use the same number.
   */
  readonly round: number
  /** The text of the latest question. */
  readonly question: string
  readonly model: string
  readonly rules: LayerRules
  /**
   * Max number of estimated tokens of the block's text. It is the same in every request with this
   * policy, so that the text does not change without new data.
   */
  readonly tokenLimit: number
  readonly ports: LayerPorts
}

export interface LayerLoadContext extends LayerContext {
  /** The `tokenLimit` of each enabled layer by its name, for layers that share what they send. */
  readonly tokenLimits: ReadonlyMap<string, number>
}

/** The stores and functions that a layer may use. */
export interface LayerPorts {
  readonly facts: FactStore
  readonly layers: MemoryLayerStore
  readonly log: Log
  readonly nowMs: () => number
  readonly newTurnId: () => string
}

/** The block of text that a memory layer adds to the prompt, without the tag around it. */
export interface LayerBlock {
  /**
   * The text of the block. For a stable layer with versions, e.g. the working memory, this is a
   * snapshot: the memory at the start of the current 20 rounds (1–20, 21–40, …), or a later state
   * if the changes since then exceeded their token limit. `''` if the memory was empty then.
   */
  readonly text: string
  /**
   * For a stable layer: the changes of its memory after the snapshot in `text`. Each stays at the
   * position where it was first sent.
   */
  readonly changes?: readonly LayerChange[]
  /**
   * Returns the text in at most this many tokens (by `estimateTokens`), or `null` if so short a
   * text would be useless. A block without this function is left out if it is too long.
   */
  readonly shortenTo?: (tokens: number) => string | null
}

export interface LayerChange {
  /** The change is sent before the question of this round (counted from 1). */
  readonly round: number
  readonly text: string
}

export interface LayerAnswer {
  readonly outcome: Outcome
  /**
   * Sends a request of the layer to the model that the policy names, or to the model that gave this
   * answer. Throws if the response is incomplete.
   */
  readonly askModel: (request: LayerModelRequest) => Promise<string>
}

export interface LayerModelRequest {
  readonly instructions: string
  readonly input: string
}
