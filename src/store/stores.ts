/** Every port of the memory, over one engine. */
import type { ArchiveStore } from './archive-store.ts'
import type { ConversationStore } from './conversation-store.ts'
import type { Engine } from './engine.ts'
import { createArchiveStore } from './kysely-archive-store.ts'
import { createConversationStore } from './kysely-conversation-store.ts'
import { createLayerStore } from './kysely-layer-store.ts'
import { createFactStore } from './kysely-fact-store.ts'
import { createMediaStore } from './kysely-media-store.ts'
import { createRecallStore } from './kysely-recall-store.ts'
import { createRequestStore } from './kysely-request-store.ts'
import { createRunStore } from './kysely-run-store.ts'
import { createStore } from './kysely-store.ts'
import { createSummaryStore } from './kysely-summary-store.ts'
import type { LayerStore } from './layer-store.ts'
import type { FactStore } from './fact-store.ts'
import type { MediaStore } from './media-store.ts'
import type { RecallStore } from './recall-store.ts'
import type { RequestStore } from './request-store.ts'
import type { RunStore } from './run-store.ts'
import type { Store } from './store.ts'
import type { SummaryStore } from './summary-store.ts'
import { OPEN_VAULT, type Vault } from './vault.ts'
import { NO_TEXTS, writtenTexts } from './written-texts.ts'

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
