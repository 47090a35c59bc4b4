/** Defines the history of a request, and a request together with its history. */
import type { AppliedSummary } from '../../context/summaries/apply-summary.ts'
import type { NewAnswerMessage } from '../../core/client/answer-message-ids.ts'
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
  /** The stored items before those of the request; empty if the client sends its complete chat. */
  readonly items: readonly Item[]
  /** The turn that the request continues and names by an id; null without an id, and at the start of a conversation. */
  readonly parent: StoredTurn | null
  /**
   * Notes about lost and restored items. Their `at` is an index in the complete list: the history's items, then
   * the request's.
   */
  readonly notes: readonly Note[]
  /** All loaded turns. `touch-loaded-turns.ts` updates their time of last use, so that they do not expire. */
  readonly usedTurns: readonly (UsedTurn & Pick<StoredTurn, 'output'>)[]
  /** The stored answers of the client's chat. Their time of last use is updated like that of the turns. */
  readonly usedAnswers: readonly UsedTurn[]
  /** The client's message to which the new answer belongs; null if the client sends no ids. */
  readonly answerMessage: NewAnswerMessage | null
  /** The input for the answer's fingerprint, which finds the turn by its text; null if the client names turns by ids. */
  readonly fingerprintInput: Pick<SegmentedHistory, 'nextFingerprintInput'> | null
  /** The position of the new turn, as found by recall; null if recall did not run, e.g. for a request with an id. */
  readonly recallResult: RecallResult | null
  /** Earlier rejections of reasoning, so that an account is not sent the reasoning again that it rejected. */
  readonly reasoningRejections: readonly ReasoningRejection[]
  /** The policy overrides of the API key, then those of the conversation. */
  readonly policyOverrides: readonly PolicyOverrides[]
  /**
   * Returns the tokens (prompt and answer) that the provider reported for the turn with this origin; null if
   * it reported none. The property is null unless the history is loaded by an id.
   */
  readonly countReportedTokens: ((origin: Origin) => number | null) | null
  /** Media that the gateway has loaded from URLs, for upstreams that do not load URLs; undefined if none. */
  readonly media?: LoadedMedia
  /**
   * The time just before the history was read. If one of its turns is deleted after this time, no summary or
   * fact of this request may be stored, because it may contain text of the deleted turn.
   */
  readonly loadedAtMs: number
  /** The start of the latest round's first answer; null if it has none yet. (A tool loop has several answers.) */
  readonly firstAnswerOfRoundAtMs: number | null
  /** The summary that replaces the beginning of the conversation; null if there is none or summaries are off. */
  readonly summary: ActiveSummary | null
  /** A newer summary that replaces more rounds. Prompts use it from the next user message on. */
  readonly summaryForNextRound?: ActiveSummary
  /** The text blocks of the memory layers; undefined if no layer is on. */
  readonly layers?: LoadedLayers
}

/** Returns the latest stored turn of the conversation; null if no turn is stored. */
export function getLatestStoredTurn({
  parent,
  recallResult,
}: Pick<LoadedHistory, 'parent' | 'recallResult'>): RecordedTurn | StoredTurn | null {
  return parent ?? recallResult?.latestStoredTurn ?? null
}

/** The position of a new turn among the stored turns of a chat that the client sends completely. */
export interface RecallResult {
  /** The latest stored turn of the chat. The new turn, memory layers and media belong to its thread. */
  readonly latestStoredTurn: RecordedTurn | null
  /** `latestStoredTurn`; null if the chat ends with an unstored answer, which the model is to continue. */
  readonly parentOfNewTurn: RecordedTurn | null
  /** The items that the client sent after the model's last item. */
  readonly itemsAfterLastAnswer: readonly Item[]
}

/** A turn or an answer with the time of its last use. */
export type UsedTurn = Pick<StoredTurn, 'id' | 'usedAtMs'>

/** A rejection: before the answer with this origin, the account rejected all reasoning in the prompt. */
export interface ReasoningRejection {
  readonly account: string
  readonly origin: Origin
}

export const NO_HISTORY: LoadedHistory = {
  items: [],
  parent: null,
  notes: [],
  usedTurns: [],
  usedAnswers: [],
  answerMessage: null,
  fingerprintInput: null,
  recallResult: null,
  reasoningRejections: [],
  policyOverrides: [],
  countReportedTokens: null,
  loadedAtMs: 0,
  firstAnswerOfRoundAtMs: null,
  summary: null,
}

export interface RequestHistory {
  /** The request without the items that recall restored from the store. */
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
