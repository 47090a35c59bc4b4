/** Every port of the memory, over one engine. */
import type { TurnManagementStore } from './turns/turn-management-store-interface.ts'
import type { ConversationStore } from './conversations/conversation-store-interface.ts'
import type { Engine } from './database/engine-interface.ts'
import { createTurnManagementStore } from './turns/kysely-turn-management-store.ts'
import { createConversationStore } from './conversations/kysely-conversation-store.ts'
import { createLayerStore } from './memory-layers/kysely-memory-layer-store.ts'
import { createFactStore } from './facts/kysely-fact-store.ts'
import { createFetchedMediaStore } from './media/kysely-fetched-media-store.ts'
import { createRecallStore } from './recall/kysely-recall-store.ts'
import { createUpstreamRequestStore } from './upstream-requests/kysely-upstream-request-store.ts'
import { createRunStore } from './background-runs/kysely-run-store.ts'
import { createTurnStore } from './turns/kysely-turn-store.ts'
import { createSummaryStore } from './summaries/kysely-summary-store.ts'
import type { LayerStore } from './memory-layers/memory-layer-store-interface.ts'
import type { FactStore } from './facts/fact-store-interface.ts'
import type { FetchedMediaStore } from './media/fetched-media-store-interface.ts'
import type { RecallStore } from './recall/recall-store-interface.ts'
import type { UpstreamRequestStore } from './upstream-requests/upstream-request-store-interface.ts'
import type { RunStore } from './background-runs/run-store-interface.ts'
import type { TurnStore } from './turns/turn-store-interface.ts'
import type { SummaryStore } from './summaries/summary-store-interface.ts'
import { NO_ENCRYPTION, type RowEncryption } from './encryption/read-encrypted-rows.ts'
import { NO_ITEM_TEXTS, createItemTextCache } from './upstream-requests/item-text-cache.ts'

export interface Stores {
  readonly store: TurnStore
  readonly archive: TurnManagementStore
  readonly conversations: ConversationStore
  readonly runs: RunStore
  readonly recall: RecallStore
  readonly media: FetchedMediaStore
  readonly summaries: SummaryStore
  readonly requests: UpstreamRequestStore
  readonly facts: FactStore
  readonly layers: LayerStore
}

export interface StoreOptions {
  /** Whether what is sent for an answer is kept with it. */
  readonly keepsRequests: boolean
}

export function createStores(
  engine: Engine,
  vault: RowEncryption = NO_ENCRYPTION,
  { keepsRequests }: StoreOptions = { keepsRequests: true },
): Stores {
  const texts = keepsRequests ? createItemTextCache() : NO_ITEM_TEXTS
  return {
    store: createTurnStore(engine, vault, texts),
    archive: createTurnManagementStore(engine, vault),
    conversations: createConversationStore(engine, vault),
    runs: createRunStore(engine, vault, texts),
    recall: createRecallStore(engine, vault),
    media: createFetchedMediaStore(engine, vault),
    summaries: createSummaryStore(engine, vault),
    requests: createUpstreamRequestStore(engine, vault, texts),
    facts: createFactStore(engine, vault),
    layers: createLayerStore(engine, vault),
  }
}
