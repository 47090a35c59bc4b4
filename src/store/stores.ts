/** Every port of the memory, over one engine. */
import type { ArchiveStore } from './archive-store.ts'
import type { ConversationStore } from './conversation-store.ts'
import type { Engine } from './engine.ts'
import { createArchiveStore } from './kysely-archive-store.ts'
import { createConversationStore } from './kysely-conversation-store.ts'
import { createRecallStore } from './kysely-recall-store.ts'
import { createRunStore } from './kysely-run-store.ts'
import { createStore } from './kysely-store.ts'
import type { RecallStore } from './recall-store.ts'
import type { RunStore } from './run-store.ts'
import type { Store } from './store.ts'
import { OPEN_VAULT, type Vault } from './vault.ts'

export interface Stores {
  readonly store: Store
  readonly archive: ArchiveStore
  readonly conversations: ConversationStore
  readonly runs: RunStore
  readonly recall: RecallStore
}

export function createStores(engine: Engine, vault: Vault = OPEN_VAULT): Stores {
  return {
    store: createStore(engine, vault),
    archive: createArchiveStore(engine, vault),
    conversations: createConversationStore(engine, vault),
    runs: createRunStore(engine, vault),
    recall: createRecallStore(engine, vault),
  }
}
