/** Defines what the gateway knows of the conversation before a request. */
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
  readonly items: readonly Item[]
  /** The turn that the new one follows, `null` at the start of a conversation. */
  readonly parent: StoredTurn | null
  /** What was done to the items of the request, by their places in all there is. */
  readonly notes: readonly Note[]
  /** The turns that were needed, so that they are kept. */
  readonly usedTurns: readonly NeededTurn[]
  /** By which the answer will be found again; `null` where nobody will look for it. */
  readonly segments: Pick<SegmentedHistory, 'next'> | null
  /** What was found out about a chat that its client sends as a whole. */
  readonly recallResult: RecallResult | null
  readonly reasoningRejections: readonly ReasoningRejection[]
  /** What is said of the context by others than the request: for its key, for its conversation. */
  readonly policyOverrides: readonly PolicyOverrides[]
  /** How many tokens an answer came to, with all that was given for it; `null` if nobody knows of any. */
  readonly countReportedTokens: ((origin: Origin) => number | null) | null
  /** What was loaded for the request, if anything had to be. */
  readonly media?: LoadedMedia
  /** Before anything of it was read: whatever is forgotten later takes along what comes of it. */
  readonly loadedAtMs: number
  /** When the first answer to the newest question was begun; `null` if none is known. */
  readonly answerStartedAtMs: number | null
  /** What stands for the beginning of it, where summaries are wanted and there is one. */
  readonly summary: ActiveSummary | null
  /** One that stands for more, and is told from the next question on. */
  readonly nextSummary?: ActiveSummary
  /** What the layers tell beside it, where any are wanted. */
  readonly layers?: LayerResults
}

export interface RecallResult {
  /** The newest turn of the chat that is known. What is kept beside the chat is kept with it. */
  readonly latestTurn: RecordedTurn | null
  /** The turn that is gone on from: the same, or none where an answer is continued that was not kept. */
  readonly parent: RecordedTurn | null
  /** What is new since the model last spoke, as the client gave it. */
  readonly newItems: readonly Item[]
}

/** `usedAtMs` is when it was last said that it is needed. */
export type NeededTurn = Pick<StoredTurn, 'id' | 'usedAtMs'>

/** An upstream that refused the reasoning of everything before the turn of this origin. */
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
  /** As the client means it. */
  readonly originalRequest: ClientRequest
  /** The same, with what it has forgotten put back: the very same, if that is nothing. */
  readonly clientRequest: ClientRequest
  readonly history: LoadedHistory
}

export interface ActiveSummary extends AppliedSummary {
  readonly border: SummaryPrefix
  readonly stored: StoredSummary
  /** Of whom it tells nothing. */
  readonly hidden: readonly string[]
}
