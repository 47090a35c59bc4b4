/** Defines the history of a request, and a request together with its history. */
import type { AppliedSummary } from '../../context/summaries/apply-summary.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import type { PolicyOverrides } from '../../core/context-policy.ts'
import type { Item, Origin } from '../../core/item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import type { Note } from '../../core/note.ts'
import type { LoadedMedia } from '../../media/loading/load-result-types.ts'
import type { LayerResults } from '../../memory/load-layer-blocks.ts'
import type { SegmentedHistory } from '../../recall/split-and-fingerprint-segments.ts'
import type { StoredSummary } from '../../store/summaries/summary-store-interface.ts'
import type { StoredTurn } from '../../store/turns/turn-store-interface.ts'
import type { SummaryPrefix } from '../summaries/hash-summary-prefixes.ts'

export interface LoadedHistory {
  /** The items before those of the request; empty if the client sends its complete chat. */
  readonly items: readonly Item[]
  /** The turn that the new turn follows; null at the start of a conversation. */
  readonly parent: StoredTurn | null
  /** Changes to the items of the request; `at` is an index in the history followed by the request. */
  readonly notes: readonly Note[]
  /** The loaded turns. They are touched once a day, so that they do not expire. */
  readonly usedTurns: readonly UsedTurn[]
  /** Fingerprints the answer; null if the client's next request names the answer by its id. */
  readonly segments: Pick<SegmentedHistory, 'next'> | null
  /** The result of recall; null if the client does not send its complete chat. */
  readonly recallResult: RecallResult | null
  readonly reasoningRejections: readonly ReasoningRejection[]
  /** The overrides for the API key and for the conversation, in this order. */
  readonly policyOverrides: readonly PolicyOverrides[]
  /**
   * Returns the tokens (prompt and answer) that the provider reported for the turn with this origin, or
   * null if it reported none. The property is null if the history is not loaded by an id.
   */
  readonly countReportedTokens: ((origin: Origin) => number | null) | null
  /** The media that the gateway loaded for upstreams that do not load URLs; undefined if none. */
  readonly media?: LoadedMedia
  /**
   * The time before the first read. If a turn is deleted after this time, summaries and facts that were
   * derived from it are deleted as well.
   */
  readonly loadedAtMs: number
  /** When the first answer to the latest question was started; null if the question is new. */
  readonly answerStartedAtMs: number | null
  /** The summary that replaces the beginning; null if summaries are off or there is none. */
  readonly summary: ActiveSummary | null
  /** A summary that replaces more, and is used from the next question on. */
  readonly nextSummary?: ActiveSummary
  /** The blocks of the memory layers; undefined if no layer is on. */
  readonly layers?: LayerResults
}

export interface RecallResult {
  /** The latest stored turn of the chat. Memory layers and media are stored under its thread. */
  readonly latestTurn: RecordedTurn | null
  /** The parent of the new turn: `latestTurn`, or null if the request continues an unstored answer. */
  readonly parent: RecordedTurn | null
  /** The items after the last model-made item, as the client sent them. */
  readonly newItems: readonly Item[]
}

/** `usedAtMs`: when the turn was last touched. */
export type UsedTurn = Pick<StoredTurn, 'id' | 'usedAtMs'>

/** An account that rejected the reasoning of all turns before the turn with this origin. */
export interface ReasoningRejection {
  readonly account: string
  readonly origin: Origin
}

export const NO_HISTORY: LoadedHistory = {
  items: [],
  parent: null,
  notes: [],
  usedTurns: [],
  segments: null,
  recallResult: null,
  reasoningRejections: [],
  policyOverrides: [],
  countReportedTokens: null,
  loadedAtMs: 0,
  answerStartedAtMs: null,
  summary: null,
}

export interface RequestHistory {
  /** The request before forgotten items were restored. */
  readonly originalRequest: ClientRequest
  /** The request with the restored items: the same object if nothing was restored. */
  readonly clientRequest: ClientRequest
  readonly history: LoadedHistory
}

export interface ActiveSummary extends AppliedSummary {
  readonly border: SummaryPrefix
  readonly stored: StoredSummary
  /** The authors whose messages the summary leaves out. */
  readonly hidden: readonly string[]
}
