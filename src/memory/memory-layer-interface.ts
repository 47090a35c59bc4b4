/**
 * A layer is a memory beside the conversation, of which a model is told a block: what it has noted
 * itself, what was observed over time, what fits the question. The port of all layers; to have another
 * one is a file with a `MemoryLayer`, a line in `layer-registry.ts`, and a field in `LayerRules` that switches it on.
 *
 * Layers are asked at once, each with its own patience. One that fails or is slow is left out, and
 * costs the answer nothing else.
 */
import type { Item } from '../core/item.ts'
import type { Outcome } from '../core/fold-answer-outcome.ts'
import type { LayerRules } from '../core/context-policy.ts'
import type { Caller } from '../core/client/caller.ts'
import type { Log } from '../core/ports/log-interface.ts'
import type { FactStore } from '../store/facts/fact-store-interface.ts'
import type { LayerStore } from '../store/memory-layers/memory-layer-store-interface.ts'

export interface MemoryLayer {
  /** Also the tag that its block is told in. */
  readonly name: string
  /** The lower one is told first, and goes first where tokens are short. */
  readonly slot: number
  readonly isEnabled: (rules: LayerRules) => boolean
  /**
   * `stable`: told in front of the history, in the same words for as long as an epoch lasts; what has
   * changed since is told behind it. `volatile`: told as a whole behind the history.
   */
  readonly band: (context: Pick<LayerContext, 'owner' | 'rules'>) => LayerBand
  /** What it cannot do with less of, and what it has no use for more of. */
  readonly minTokens: number
  readonly maxTokens: number
  /** At most five seconds. */
  readonly timeoutMs: number
  /** `null` where there is nothing to tell. May throw. Nothing in it may change without a cause. */
  readonly recall: (context: LayerContext, after: RunInBackground) => Promise<LayerBlock | null>
  /** Behind an answer that was finished, in the background. May throw. */
  readonly update?: (context: LayerContext, answered: LayerAnswer) => Promise<void>
}

export type LayerBand = 'stable' | 'volatile'

/** Is handed what the answer does not wait for: there are hosts that end what nobody waits for. */
export type RunInBackground = (work: Promise<unknown>) => void

export interface LayerContext {
  readonly owner: Caller
  /** What memories of this conversation are kept under; `null` where it is not known yet, or not kept. */
  readonly thread: string | null
  /** A turn before this one that is kept, if there is one: what is forgotten meanwhile goes with it. */
  readonly parent: string | null
  readonly isTemporary: boolean
  /** What is forgotten after that takes along what is kept of it. */
  readonly begunAtMs: number
  /** Everything that was said before the answer, in its own words. */
  readonly items: readonly Item[]
  /** The number of the newest question, counted from 1: an absolute one, the same on every replica. */
  readonly round: number
  /** The text of the newest question. */
  readonly question: string
  readonly model: string
  readonly rules: LayerRules
  /** What this layer may tell, by estimate: the same in every request of a policy. */
  readonly tokens: number
  readonly ports: LayerPorts
}

/** What a layer reaches outside of its values. */
export interface LayerPorts {
  readonly facts: FactStore
  readonly layers: LayerStore
  readonly log: Log
  readonly nowMs: () => number
  readonly newTurnId: () => string
}

/** What one layer has to tell: text without its tag, which is put around it. */
export interface LayerBlock {
  /** Of a stable layer: as it was when the epoch began; `''` if there was nothing then. */
  readonly text: string
  /** Of a stable layer: what has changed since, each told in front of the question of its round, for good. */
  readonly changes?: readonly LayerChange[]
  /**
   * The text in at most so many tokens by `estimateTokens`; `null` if it makes no sense that short.
   * Without it, a block that is too long is left out.
   */
  readonly shortenTo?: (tokens: number) => string | null
}

export interface LayerChange {
  readonly round: number
  readonly text: string
}

export interface LayerAnswer {
  readonly outcome: Outcome
  /** Asks the model of the request, or the one that the policy names. Throws where it gives no whole answer. */
  readonly askModel: (question: LayerQuestion) => Promise<string>
}

export interface LayerQuestion {
  readonly instructions: string
  readonly input: string
}
