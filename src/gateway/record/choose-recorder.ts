/**
 * Chooses whether an answer is stored: always if the client asks for it, never with `store: false`. Otherwise it is
 * stored if the client sends complete chats and the answer has items that the client will not send back, e.g.
 * reasoning.
 */
import type { ClientRequest } from '../../core/client-request.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { Item } from '../../core/item.ts'
import { markReferencedReasoning } from '../../core/markers/reasoning-reference.ts'
import { readToolCallIdentity } from '../../core/items/tool-call-pairs.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { joinVisibleReasoning } from '../../dialects/chat/render/join-visible-text.ts'
import { formatPolicyOverrides } from '../../dialects/context-policy/parse-and-format-overrides.ts'
import type { NewTurn } from '../../store/turns/turn-store-interface.ts'
import type { Ports } from '../dependencies-interface.ts'
import type { RequestHistory, RecallResult } from '../history/loaded-history.ts'
import type { ConversationLock } from '../history/lock-conversation.ts'
import {
  isStorageRequested,
  isTemporaryChat,
} from '../history/memory-thread-and-storage-permission.ts'
import { createRecorder } from './create-recorder.ts'
import { addLostFields } from './lost-fields-of-stored-request.ts'
import { findParentTurn, type ParentSearch } from './find-parent-turn.ts'
import {
  type UnrequestedStorageRule,
  createUnrequestedStorageRule,
} from './unrequested-storage-rule.ts'
import { NOT_RECORDED, type Recorder } from './recorder-interface.ts'
import { replaceMediaByFingerprint } from './replace-media-by-fingerprint.ts'
import { openTurnWriter, type TurnWriterPorts } from './turn-writer.ts'

/** The fields of a new turn that are known before its history is loaded. */
export type TurnIdentity = Pick<
  NewTurn,
  'id' | 'tenant' | 'user' | 'replicaId' | 'origin' | 'createdAtMs' | 'dialect'
>

interface RecordedRequest extends RequestHistory {
  readonly lock: ConversationLock | null
  /** The search for the parent turn; null if it has not been started. */
  readonly parentSearch: ParentSearch | null
  /** For a WebSocket: keeps an unstored answer in memory, so that the connection can continue it. Null for HTTP. */
  readonly recordForConnection: RecordForConnection | null
  /**
   * True if an answer of plain text is stored too: a retry with the same `Idempotency-Key` receives it, or the
   * conversation before earlier reasoning has changed, and a later request must find that out only once.
   */
  readonly storesEveryAnswer: boolean
  /** Fields of the request that the model was not given as requested. */
  readonly lostFields: readonly string[]
}

/** Creates the recorder of an unstored answer. `itemsBefore`: all items before the answer. */
export type RecordForConnection = (turn: NewTurn, itemsBefore: readonly Item[]) => Recorder

export function chooseRecorder(
  identity: TurnIdentity,
  recorded: RecordedRequest,
  ports: TurnWriterPorts & Ports<'answerMessages' | 'archive' | 'settings'>,
  waitUntil: (work: Promise<unknown>) => void,
): Recorder {
  const { originalRequest, clientRequest, history, lock, recordForConnection } = recorded
  const { storage, client, dialect } = originalRequest
  const { parent, recallResult } = history
  const clientAsksToStore = isStorageRequested(originalRequest)
  const draft = {
    ...identity,
    thread: parent?.thread ?? identity.id,
    parent: parent?.id ?? null,
    depth: parent === null ? 0 : parent.depth + 1,
    conversation: storage.conversationId,
    background: false,
    isTemporary: isTemporaryChat(originalRequest),
    answerMessage: history.answerMessage,
  }
  const buildTurn = (clientRequestToStore: ClientRequest): NewTurn => {
    const parts = selectRequestPartsToStore(clientRequestToStore)
    const request =
      dialect === 'responses'
        ? addLostFields(parts.request, recorded.lostFields, identity.origin)
        : parts.request
    return { ...draft, ...parts, request }
  }
  const plainRule = createUnrequestedStorageRule(client, dialect, ports.settings)
  const rule = recorded.storesEveryAnswer
    ? keepEverything(plainRule)
    : continuesAnswer(recallResult)
      ? history.answerMessage === null
        ? keepCalls(plainRule)
        : keepContinuation(plainRule)
      : plainRule
  const receivesMarkers = client.receivesMarkers || client.returnsReasoningReferences
  const writing = { isWorthStoring: rule.isWorthStoring, receivesMarkers }
  const recording = {
    turnId: draft.id,
    // The client relies on a turn that it asks for explicitly, or adds to a conversation.
    failsIfUnclosed: storage.store === true || storage.conversationId !== null,
    rule,
    ...(client.returnsReasoningReferences &&
      originalRequest.stream && {
        markItem: (item: Item) => markShownReasoning(item, originalRequest.params.model),
      }),
    onTimeout: () => ports.log('warn', 'turn-late', { turn: draft.id }),
    waitUntil,
  }
  if (clientAsksToStore) {
    // A stored response has the restored items as input. A stored chat completion has only what the client sent.
    const turn = buildTurn(dialect === 'chat' ? originalRequest : clientRequest)
    const turnWithParent = findParentTurn(turn, parent, ports, recorded.parentSearch)
    const openWriter = () => openTurnWriter(turn, { ...writing, turnWithParent, lock }, ports)
    return createRecorder({ ...recording, clientAsksToStore, openWriter })
  }
  if (recordForConnection !== null) {
    const itemsBefore = [...history.items, ...originalRequest.items]
    return recordForConnection(buildTurn(originalRequest), itemsBefore)
  }
  if (storage.store === false || recallResult === null) return NOT_RECORDED
  // Builds the turn only when it is opened, because most answers have no item worth storing.
  const openWriter = () => {
    const turnWithParent = Promise.resolve(
      placeRecalledTurn(buildTurn(originalRequest), recallResult),
    )
    return openTurnWriter(draft, { ...writing, turnWithParent, lock: null }, ports)
  }
  const storePlainAnswer = createPlainAnswerWriter(draft, ports)
  return createRecorder({ ...recording, clientAsksToStore, openWriter, storePlainAnswer })
}

/**
 * Marks reasoning with a reference beside it. Reasoning without text has none, because nothing of it is shown; nor has
 * an answer that is not streamed.
 */
function markShownReasoning(item: Item, requestedModel: string): Item {
  return joinVisibleReasoning([item]) === '' ? item : markReferencedReasoning(item, requestedModel)
}

/** Returns a function that stores the client's ids of an answer without a turn; null if the client sends none. */
function createPlainAnswerWriter(
  draft: TurnIdentity & Pick<NewTurn, 'answerMessage' | 'isTemporary'>,
  { answerMessages, log }: Ports<'answerMessages' | 'log'>,
): (() => Promise<void>) | null {
  const { answerMessage = null } = draft
  if (answerMessage === null) return null
  return () =>
    answerMessages.addPlainAnswer({ ...draft, ...answerMessage }).catch((error: unknown) => {
      log('warn', 'answer-not-listed', { turn: draft.id, why: errorMessage(error) })
    })
}

/** True if a chat with stored turns ends with items of the model, so that the model continues its latest answer. */
function continuesAnswer(recallResult: RecallResult | null): boolean {
  const { latestStoredTurn = null, itemsAfterLastAnswer = [] } = recallResult ?? {}
  return latestStoredTurn !== null && itemsAfterLastAnswer.length === 0
}

/**
 * Makes tool calls worth storing too, because clients send back the calls of a continuation as if the earlier
 * answer had made them.
 */
function keepCalls(rule: UnrequestedStorageRule): UnrequestedStorageRule {
  return {
    ...rule,
    isWorthStoring: (item) =>
      rule.isWorthStoring(item) || readToolCallIdentity(item)?.side === 'call',
  }
}

/**
 * Makes all items of a continuation worth storing: if a client names its messages, the turns of a message are restored
 * between its texts, so that these have to be known.
 */
function keepContinuation(rule: UnrequestedStorageRule): UnrequestedStorageRule {
  return { ...rule, isWorthStoring: () => true }
}

/** Makes all items worth storing, and opens the turn when the first item starts. */
function keepEverything(rule: UnrequestedStorageRule): UnrequestedStorageRule {
  return { ...rule, isWorthStoring: () => true, mayBecomeWorthStoring: () => true }
}

/** Adds the thread and parent that recall found. Omits large request fields, because no client retrieves this turn. */
function placeRecalledTurn(
  turn: NewTurn,
  { latestStoredTurn, parentOfNewTurn, itemsAfterLastAnswer }: RecallResult,
): { readonly turn: NewTurn; readonly contentHash: null } {
  const placed = {
    ...turn,
    thread: latestStoredTurn?.thread ?? turn.id,
    parent: parentOfNewTurn?.id ?? null,
    depth: parentOfNewTurn === null ? 0 : parentOfNewTurn.depth + 1,
    input: replaceMediaByFingerprint(itemsAfterLastAnswer),
    request: keepShortFields(turn.request),
  }
  return { turn: placed, contentHash: null }
}

/** Omits objects, lists and texts of 100 characters or more, e.g. `tools`. */
function keepShortFields(request: JsonObject): JsonObject {
  const isShort = (value: unknown): boolean =>
    typeof value === 'string' ? value.length < 100 : typeof value !== 'object' || value === null
  return Object.fromEntries(Object.entries(request).filter(([, value]) => isShort(value)))
}

/**
 * Returns the parts of a request that its turn stores: fields, input items and, for Chat Completions, the metadata
 * separately, because clients can list chat completions by metadata.
 */
function selectRequestPartsToStore({
  dialect,
  items,
  body,
  storage,
  policyOverrides,
}: ClientRequest): Pick<NewTurn, 'request' | 'input' | 'metadata'> {
  const { input: _input, messages: _messages, ...fields } = body
  const request =
    policyOverrides === null
      ? fields
      : { ...fields, backstory: formatPolicyOverrides(policyOverrides) }
  if (dialect === 'responses') return { request, input: omitInstructionItems(items, request) }
  const { metadata: _metadata, ...rest } = request
  return { request: rest, input: items, metadata: storage.metadata }
}

/** Omits the items of the field `instructions`: the parser puts them first, but they apply to this request only. */
function omitInstructionItems(
  items: readonly Item[],
  { instructions }: JsonObject,
): readonly Item[] {
  return Array.isArray(instructions) ? items.slice(instructions.length) : items
}
