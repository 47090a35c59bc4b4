/**
 * Defines the gateway's dependencies (ports): database, upstreams, clock, log etc. The entry points create them
 * once. Each function lists only the ports that it uses, e.g. `Ports<'log' | 'nowMs'>`.
 */
import type { Log } from '../core/ports/log-interface.ts'
import type { MemoryLayer } from '../memory/memory-layer-interface.ts'
import type { MediaLoader } from '../media/loading/media-loader.ts'
import type { Account } from '../providers/provider-interface.ts'
import type { MemoryBudget } from './request-memory.ts'
import type { ReplicaAndUnclosedTurns } from './replica-and-unclosed-turns.ts'
import type { Settings } from '../settings/read-settings.ts'
import type { Stores } from '../store/create-stores.ts'
import type { Transport } from '../upstream/transport/transport-interface.ts'
import type { UpstreamKnowledge } from '../upstream/upstream-knowledge.ts'
import type { ExplainHooks } from './explain-hooks-interface.ts'

export interface GatewayDependencies extends Stores {
  readonly settings: Settings
  readonly accounts: readonly Account[]
  readonly transport: Transport
  /** What this process has learned about its upstreams; undefined if it remembers nothing. */
  readonly upstreamKnowledge?: UpstreamKnowledge
  /** Loads media URLs for upstreams that do not load them; undefined if loading is turned off. */
  readonly mediaLoader?: MediaLoader
  /** The available memory layers; undefined for all layers of `memory/layer-registry.ts`. */
  readonly memoryLayers?: readonly MemoryLayer[]
  /** Identifies this gateway process among the replicas on the same database. */
  readonly replica: ReplicaAndUnclosedTurns
  /** The functions of `explain/` that the gateway calls. */
  readonly hooks: ExplainHooks
  /** Limits the memory of all requests in progress. */
  readonly requestMemory: MemoryBudget
  readonly newTurnId: () => string
  readonly nowMs: () => number
  readonly log: Log
}

export type Ports<Names extends keyof GatewayDependencies> = Pick<GatewayDependencies, Names>
