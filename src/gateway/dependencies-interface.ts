/**
 * Defines the gateway's connections to the outside: database, upstreams, clock, log. The entry points
 * build them once. Each function names only the ports that it uses, e.g. `Ports<'log' | 'nowMs'>`.
 */
import type { Log } from '../core/ports/log-interface.ts'
import type { MemoryLayer } from '../memory/memory-layer-interface.ts'
import type { MediaLoader } from '../media/loading/media-loader.ts'
import type { Account } from '../providers/provider-interface.ts'
import type { ReplicaIdentity } from './replica-identity.ts'
import type { Settings } from '../settings/read-settings.ts'
import type { Stores } from '../store/create-stores.ts'
import type { Transport } from '../upstream/transport/transport-interface.ts'
import type { AnswerHooks } from './answer-hooks-interface.ts'

export interface GatewayDependencies extends Stores {
  readonly settings: Settings
  readonly accounts: readonly Account[]
  readonly transport: Transport
  /** Loads media for upstreams that do not load URLs themselves; undefined if loading is off. */
  readonly mediaLoader?: MediaLoader
  /** The available memory layers; undefined: all of `memory/layer-registry.ts`. */
  readonly memoryLayers?: readonly MemoryLayer[]
  /** Identifies this process to the other replicas on the same database. */
  readonly replica: ReplicaIdentity
  /** The functions of `explain/` that run for each answer. */
  readonly hooks: AnswerHooks
  readonly newTurnId: () => string
  readonly nowMs: () => number
  readonly log: Log
}

export type Ports<Names extends keyof GatewayDependencies> = Pick<GatewayDependencies, Names>
