/**
 * Defines the interface of memory layers. A layer is a memory beside the conversation that adds a
 * block of text to the prompt, e.g. the model's working memory, observations, or facts that match
 * the question. To add a layer, add a file with a `MemoryLayer`, a line in `layer-registry.ts`, and
 * a field in `LayerRules` that enables it.
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
import type { LayerStore } from '../store/memory-layers/memory-layer-store-interface.ts'

export interface MemoryLayer {
  /** Also the tag around the layer's block. */
  readonly name: string
  /** Blocks are sorted by this number, lowest first; the lowest also gets its tokens first. */
  readonly order: number
  readonly isEnabled: (rules: LayerRules) => boolean
  /**
   * `stable`: before the history, with the same text for a complete epoch, and later changes after
   * it. `volatile`: the complete text after the history.
   */
  readonly band: (context: Pick<LayerContext, 'owner' | 'rules'>) => LayerBand
  /** The range of tokens that the layer can use. */
  readonly minTokens: number
  readonly maxTokens: number
  /** At most 5,000. */
  readonly timeoutMs: number
  /**
   * Resolves to `null` if there is nothing to send. May throw. The text must not change without new
   * data, because every change costs provider cache.
   */
  readonly loadBlock: (context: LayerContext, after: RunInBackground) => Promise<LayerBlock | null>
  /** Runs in the background after a completed answer. May throw. */
  readonly update?: (context: LayerContext, answered: LayerAnswer) => Promise<void>
}

export type LayerBand = 'stable' | 'volatile'

/**
 * Registers work that the answer does not wait for. Some hosts, e.g. Workers, stop work that is not
 * registered.
 */
export type RunInBackground = (work: Promise<unknown>) => void

export interface LayerContext {
  readonly owner: Caller
  /** Key of this conversation's memories; `null` if it is not known yet, or nothing is stored. */
  readonly thread: string | null
  /**
   * A stored turn before this one, if any; when it is deleted, data derived from it is deleted,
   * too.
   */
  readonly parent: string | null
  readonly isTemporary: boolean
  /**
   * Start of the request: a deletion after this time also removes the data that the request writes.
   */
  readonly begunAtMs: number
  /** All original items before the answer, uncut. */
  readonly items: readonly Item[]
  /**
   * Number of the latest question, counted from 1 in the complete conversation, the same on every
   * replica.
   */
  readonly round: number
  /** The text of the latest question. */
  readonly question: string
  readonly model: string
  readonly rules: LayerRules
  /** Estimated token limit of this layer, the same in every request with this policy. */
  readonly tokens: number
  readonly ports: LayerPorts
}

/** The stores and functions that a layer may call. */
export interface LayerPorts {
  readonly facts: FactStore
  readonly layers: LayerStore
  readonly log: Log
  readonly nowMs: () => number
  readonly newTurnId: () => string
}

/** The text of one layer, without its tag. */
export interface LayerBlock {
  /** In a stable layer, the state when the epoch began; `''` if it was empty then. */
  readonly text: string
  /**
   * In a stable layer, the later changes. Each comes before the question of its round and stays
   * there.
   */
  readonly changes?: readonly LayerChange[]
  /**
   * Returns the text in at most this many tokens (by `estimateTokens`), or `null` if it is useless
   * that short. A block without this function is left out if it is too long.
   */
  readonly shortenTo?: (tokens: number) => string | null
}

export interface LayerChange {
  readonly round: number
  readonly text: string
}

export interface LayerAnswer {
  readonly outcome: Outcome
  /**
   * Sends a request to the model of the answer, or to the model that the policy names. Throws if
   * the answer is incomplete.
   */
  readonly askModel: (question: LayerQuestion) => Promise<string>
}

export interface LayerQuestion {
  readonly instructions: string
  readonly input: string
}
