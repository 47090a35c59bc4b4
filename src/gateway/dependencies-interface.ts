/** Everything that is not a value: what the gateway reaches, knows of its host, and remembers. */
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
  /** Loads what upstreams do not load themselves. Absent where nothing is to be loaded. */
  readonly mediaLoader?: MediaLoader
  /** What a model may be told beside the conversation. Without a word, every layer there is. */
  readonly memoryLayers?: readonly MemoryLayer[]
  /** This process, as the others that share its database know it. */
  readonly replica: ReplicaIdentity
  /** What the explanations add to an answer. */
  readonly hooks: AnswerHooks
  readonly newTurnId: () => string
  readonly nowMs: () => number
  readonly log: Log
}
