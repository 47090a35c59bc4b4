/** Every port of the memory, over one engine. */
import type { ArchiveStore } from './turns/turn-management-store-interface.ts'
import type { ConversationStore } from './conversations/conversation-store-interface.ts'
import type { Engine } from './database/engine-interface.ts'
import { createArchiveStore } from './turns/kysely-turn-management-store.ts'
import { createConversationStore } from './conversations/kysely-conversation-store.ts'
import { createLayerStore } from './memory-layers/kysely-memory-layer-store.ts'
import { createFactStore } from './facts/kysely-fact-store.ts'
import { createMediaStore } from './media/kysely-fetched-media-store.ts'
import { createRecallStore } from './recall/kysely-recall-store.ts'
import { createRequestStore } from './upstream-requests/kysely-upstream-request-store.ts'
import { createRunStore } from './background-runs/kysely-run-store.ts'
import { createStore } from './turns/kysely-turn-store.ts'
import { createSummaryStore } from './summaries/kysely-summary-store.ts'
import type { LayerStore } from './memory-layers/memory-layer-store-interface.ts'
import type { FactStore } from './facts/fact-store-interface.ts'
import type { MediaStore } from './media/fetched-media-store-interface.ts'
import type { RecallStore } from './recall/recall-store-interface.ts'
import type { RequestStore } from './upstream-requests/upstream-request-store-interface.ts'
import type { RunStore } from './background-runs/run-store-interface.ts'
import type { Store } from './turns/turn-store-interface.ts'
import type { SummaryStore } from './summaries/summary-store-interface.ts'
import { OPEN_VAULT, type Vault } from './encryption/read-encrypted-rows.ts'
import { NO_TEXTS, writtenTexts } from './upstream-requests/item-text-cache.ts'

export interface Stores {
  readonly store: Store
  readonly archive: ArchiveStore
  readonly conversations: ConversationStore
  readonly runs: RunStore
  readonly recall: RecallStore
  readonly media: MediaStore
  readonly summaries: SummaryStore
  readonly requests: RequestStore
  readonly facts: FactStore
  readonly layers: LayerStore
}

export interface Keeping {
  /** Whether what is sent for an answer is kept with it. */
  readonly keepsRequests: boolean
}

export function createStores(
  engine: Engine,
  vault: Vault = OPEN_VAULT,
  { keepsRequests }: Keeping = { keepsRequests: true },
): Stores {
  const texts = keepsRequests ? writtenTexts() : NO_TEXTS
  return {
    store: createStore(engine, vault, texts),
    archive: createArchiveStore(engine, vault),
    conversations: createConversationStore(engine, vault),
    runs: createRunStore(engine, vault, texts),
    recall: createRecallStore(engine, vault),
    media: createMediaStore(engine, vault),
    summaries: createSummaryStore(engine, vault),
    requests: createRequestStore(engine, vault, texts),
    facts: createFactStore(engine, vault),
    layers: createLayerStore(engine, vault),
  }
}
