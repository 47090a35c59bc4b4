/** Creates all stores on one database engine. */
import type { TurnManagementStore } from './turns/turn-management-store-interface.ts'
import type { ConversationStore } from './conversations/conversation-store-interface.ts'
import { DEFAULT_CACHE_SIZES, type CacheSizes } from './cache-sizes.ts'
import type { Engine } from './database/engine-interface.ts'
import { reportDatabaseErrors } from './database/report-database-errors.ts'
import { createDatabaseClock, TRUSTED_CLOCK } from './leases/database-clock.ts'
import { createAnswerMessageStore } from './recall/sql-answer-message-store.ts'
import type { AnswerMessageStore } from './recall/answer-message-store-interface.ts'
import { createTurnManagementStore } from './turns/sql-turn-management-store.ts'
import { createConversationStore } from './conversations/sql-conversation-store.ts'
import { createMemoryLayerStore } from './memory-layers/sql-memory-layer-store.ts'
import { createFactStore } from './facts/sql-fact-store.ts'
import { createFetchedMediaStore } from './media/sql-fetched-media-store.ts'
import { createIdempotencyStore } from './idempotency/sql-idempotency-store.ts'
import { createRecallStore } from './recall/sql-recall-store.ts'
import { createExpiryAndDeletionStore } from './deletion/sql-expiry-and-deletion-store.ts'
import { createUpstreamRequestStore } from './upstream-requests/sql-upstream-request-store.ts'
import { createRunStore } from './background-runs/sql-run-store.ts'
import { createTurnStore } from './turns/sql-turn-store.ts'
import { createSummaryStore } from './summaries/sql-summary-store.ts'
import type { MemoryLayerStore } from './memory-layers/memory-layer-store-interface.ts'
import type { FactStore } from './facts/fact-store-interface.ts'
import type { FetchedMediaStore } from './media/fetched-media-store-interface.ts'
import type { ExpiryAndDeletionStore } from './deletion/expiry-and-deletion-store-interface.ts'
import type { IdempotencyStore } from './idempotency/idempotency-store-interface.ts'
import type { RecallStore } from './recall/recall-store-interface.ts'
import type { UpstreamRequestStore } from './upstream-requests/upstream-request-store-interface.ts'
import type { RunStore } from './background-runs/run-store-interface.ts'
import type { TurnStore } from './turns/turn-store-interface.ts'
import type { SummaryStore } from './summaries/summary-store-interface.ts'
import { NO_ENCRYPTION, type RowEncryption } from './encryption/decrypt-rows.ts'
import { NO_ITEM_TEXTS, createItemTextCache } from './upstream-requests/item-text-cache.ts'

export interface Stores {
  readonly store: TurnStore
  readonly archive: TurnManagementStore
  readonly conversations: ConversationStore
  readonly runs: RunStore
  readonly recall: RecallStore
  readonly answerMessages: AnswerMessageStore
  readonly deletion: ExpiryAndDeletionStore
  readonly media: FetchedMediaStore
  readonly summaries: SummaryStore
  readonly requests: UpstreamRequestStore
  readonly facts: FactStore
  readonly layers: MemoryLayerStore
  readonly idempotency: IdempotencyStore
}

export interface StoreOptions {
  /**
   * True if the requests that are sent to upstreams are stored with their answers
   * (`EXPLAIN_KEEP=on`).
   */
  readonly storesUpstreamRequests: boolean
  /**
   * Length of the lease that this process renews; null on Workers, where jumps of the clock of the database
   * are not detected.
   */
  readonly leaseMs?: number | null
  readonly cacheSizes?: CacheSizes
  /** Maximum size of the turns that recall returns. */
  readonly maxRecalledBytes?: number | undefined
  /** Length of the lease of each open turn, on Workers; null if the lease of the process covers its turns. */
  readonly turnLeaseMs?: number | null
}

export function createStores(
  databaseEngine: Engine,
  encryption: RowEncryption = NO_ENCRYPTION,
  options: StoreOptions = { storesUpstreamRequests: true },
): Stores {
  const { storesUpstreamRequests, leaseMs = null, turnLeaseMs = null } = options
  const { cacheSizes = DEFAULT_CACHE_SIZES, maxRecalledBytes } = options
  const engine = reportDatabaseErrors(databaseEngine)
  const clock = leaseMs === null ? TRUSTED_CLOCK : createDatabaseClock(leaseMs)
  const texts = storesUpstreamRequests ? createItemTextCache(cacheSizes.itemTexts) : NO_ITEM_TEXTS
  return {
    store: createTurnStore(engine, encryption, texts, turnLeaseMs),
    archive: createTurnManagementStore(engine, encryption),
    conversations: createConversationStore(engine, encryption, clock),
    runs: createRunStore(engine, encryption, texts, clock),
    recall: createRecallStore(engine, encryption, {
      maxCachedBytes: cacheSizes.recalledItems,
      maxRecalledBytes,
    }),
    answerMessages: createAnswerMessageStore(engine),
    deletion: createExpiryAndDeletionStore(engine),
    media: createFetchedMediaStore(engine, encryption),
    summaries: createSummaryStore(engine, encryption),
    requests: createUpstreamRequestStore(engine, encryption, {
      texts,
      maxCachedBytes: cacheSizes.requests,
    }),
    facts: createFactStore(engine, encryption),
    layers: createMemoryLayerStore(engine, encryption),
    idempotency: createIdempotencyStore(engine, clock),
  }
}
