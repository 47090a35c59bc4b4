/** Defines the history of a request, and a request together with its history. */
import type { AppliedSummary } from '../../context/summaries/apply-summary.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import type { PolicyOverrides } from '../../core/context-policy.ts'
import type { Item, Origin } from '../../core/item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import type { Note } from '../../core/note.ts'
import type { LoadedMedia } from '../../media/loading/load-result-types.ts'
import type { LoadedLayers } from '../../memory/load-layer-blocks.ts'
import type { SegmentedHistory } from '../../recall/split-and-fingerprint-segments.ts'
import type { StoredSummary } from '../../store/summaries/summary-store-interface.ts'
import type { StoredTurn } from '../../store/turns/turn-store-interface.ts'
import type { SummaryPrefix } from '../summaries/hash-summary-prefixes.ts'

export interface LoadedHistory {
  /** The items before the request's own; empty if the client sends its complete chat. */
  readonly items: readonly Item[]
  /** The turn that the request continues; null at the start of a conversation. */
  readonly parent: StoredTurn | null
  /** Notes about dropped items. Their `at` is an index in the list of history items and request items. */
  readonly notes: readonly Note[]
  /** All loaded turns. `touch-loaded-turns.ts` keeps them from expiring. */
  readonly usedTurns: readonly UsedTurn[]
  /** The source of the answer's fingerprint, which finds its turn by text; null if clients name the turn by its id. */
  readonly fingerprintSource: Pick<SegmentedHistory, 'nextFingerprintSource'> | null
  /** The turns that recall found; null if the client does not send its complete chat. */
  readonly recallResult: RecallResult | null
  /** Earlier rejections of reasoning. An upstream is not sent reasoning that it has rejected. */
  readonly reasoningRejections: readonly ReasoningRejection[]
  /** The policy overrides of the API key, then those of the conversation. */
  readonly policyOverrides: readonly PolicyOverrides[]
  /**
   * Returns the tokens (prompt and answer) that the provider reported for the turn with this origin; null if
   * it reported none. The property is null if the history is not loaded by an id.
   */
  readonly countReportedTokens: ((origin: Origin) => number | null) | null
  /** Media that the gateway has loaded from URLs, for upstreams that do not load URLs; undefined if none. */
  readonly media?: LoadedMedia
  /**
   * The time before the history was read. If one of its turns is deleted after this time, no summary or
   * fact of this request may be stored, because it may contain text of the deleted turn.
   */
  readonly loadedAtMs: number
  /** The start of the first answer in the latest round (a round has several with tool calls); null if there is none. */
  readonly answerStartedAtMs: number | null
  /** The summary that replaces the beginning of the conversation; null if there is none or summaries are off. */
  readonly summary: ActiveSummary | null
  /** A newer summary that replaces more rounds; the prompt uses it after the next user message. */
  readonly summaryForNextRound?: ActiveSummary
  /** The text blocks of the memory layers; undefined if no layer is on. */
  readonly layers?: LoadedLayers
}

/** Returns the latest turn of the conversation that is stored; null if there is none. */
export function getLatestStoredTurn({
  parent,
  recallResult,
}: Pick<LoadedHistory, 'parent' | 'recallResult'>): RecordedTurn | StoredTurn | null {
  return parent ?? recallResult?.latestTurn ?? null
}

export interface RecallResult {
  /** The latest stored turn of the chat; memory layers and media are stored under its thread. */
  readonly latestTurn: RecordedTurn | null
  /** The parent of the new turn: `latestTurn`, or null if the model is to continue an answer that is not stored. */
  readonly parent: RecordedTurn | null
  /** The items that the client sent after the model's last item. */
  readonly newItems: readonly Item[]
}

/** A turn with the time of its last use. */
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
  fingerprintSource: null,
  recallResult: null,
  reasoningRejections: [],
  policyOverrides: [],
  countReportedTokens: null,
  loadedAtMs: 0,
  answerStartedAtMs: null,
  summary: null,
}

export interface RequestHistory {
  /** The request without the items that recall restored. */
  readonly originalRequest: ClientRequest
  /** The request with the restored items; the same object as `originalRequest` if there are none. */
  readonly clientRequest: ClientRequest
  readonly history: LoadedHistory
}

/** A stored summary together with the beginning of the conversation that it replaces. */
export interface ActiveSummary extends AppliedSummary {
  readonly prefix: SummaryPrefix
  readonly stored: StoredSummary
  /** The authors whose messages were hidden from the model that wrote the summary. */
  readonly hiddenAuthors: readonly string[]
}
