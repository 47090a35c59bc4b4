/** Everything that is not a value: what the gateway reaches, knows of its host, and remembers. */
import type { Item } from './conversation/item.ts'
import type { Log } from './conversation/log.ts'
import type { Recorder } from './history/recorder.ts'
import type { Layer } from './layers/layer.ts'
import type { MediaLoader } from './media/load-media.ts'
import type { Account } from './provider/provider.ts'
import type { Replica } from './replica.ts'
import type { Settings } from './settings.ts'
import type { NewTurn } from './store/store.ts'
import type { Stores } from './store/stores.ts'
import type { Transport } from './transport/transport.ts'
import type { AnswerHooks } from './upstream/answer-hooks.ts'

export interface World extends Stores {
  readonly settings: Settings
  readonly accounts: readonly Account[]
  readonly transport: Transport
  /** Loads what upstreams do not load themselves. Absent where nothing is to be loaded. */
  readonly mediaLoader?: MediaLoader
  /** What a model may be told beside the conversation. Without a word, every layer there is. */
  readonly memoryLayers?: readonly Layer[]
  /** This process, as the others that share its database know it. */
  readonly replica: Replica
  /** What the explanations add to an answer. */
  readonly hooks: AnswerHooks
  readonly newTurnId: () => string
  readonly nowMs: () => number
  readonly log: Log
  /** Whether this answer says in a header what its request came to. */
  readonly tellsContext?: boolean
  /** Where a connection of its own remembers an answer that is not stored. `said` is all before it. */
  readonly aside?: (turn: NewTurn, said: readonly Item[]) => Recorder
}
