/**
 * Chooses how an answer is recorded: completely if the client asked for it, not at all if the client sent
 * `store: false`, and otherwise only the items that the client cannot send back.
 */
import type { ClientRequest } from '../../core/client-request.ts'
import type { Item } from '../../core/item.ts'
import { callEndOf } from '../../core/items/tool-call-pairs.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { formatPolicyOverrides } from '../../dialects/context-policy/parse-and-format-overrides.ts'
import type { NewTurn } from '../../store/turns/turn-store-interface.ts'
import type { Ports } from '../dependencies-interface.ts'
import type { LoadedHistory } from '../history/loaded-history.ts'
import type { ConversationLock } from '../history/lock-conversation.ts'
import {
  isStorageRequested,
  isTemporaryChat,
} from '../history/memory-thread-and-storage-permission.ts'
import { createRecorder, type ItemRetentionRule } from './create-recorder.ts'
import { findParentTurn } from './find-parent-turn.ts'
import { createRetentionRule } from './item-retention-rule.ts'
import { NOT_RECORDED, type Recorder } from './recorder-interface.ts'
import { replaceMediaByFingerprint } from './replace-media-by-fingerprint.ts'
import { openTurnWriter } from './turn-writer.ts'

/** The fields of a turn that are known without its history. */
export type TurnIdentity = Pick<
  NewTurn,
  'id' | 'tenant' | 'user' | 'owner' | 'origin' | 'createdAtMs' | 'dialect'
>

interface RecordedRequest {
  /** The request as the client meant it, before forgotten items were restored. */
  readonly originalRequest: ClientRequest
  /** The request with the restored items. */
  readonly clientRequest: ClientRequest
  readonly history: LoadedHistory
  readonly lock: ConversationLock | null
  /** Over a WebSocket: remembers answers that are not stored, for this connection only. */
  readonly recordForConnection: RecordForConnection | null
}

/** Creates the recorder of an unstored answer; `before` are all items before the answer. */
export type RecordForConnection = (turn: NewTurn, before: readonly Item[]) => Recorder

export function chooseRecorder(
  identity: TurnIdentity,
  { originalRequest, clientRequest, history, lock, recordForConnection }: RecordedRequest,
  ports: Ports<'archive' | 'log' | 'nowMs' | 'replica' | 'settings' | 'store'>,
  waitUntil: (work: Promise<unknown>) => void,
): Recorder {
  const { storage, client, dialect } = originalRequest
  const { parent, recallResult } = history
  const isRequested = isStorageRequested(originalRequest)
  const draft = {
    ...identity,
    thread: parent?.thread ?? identity.id,
    parent: parent?.id ?? null,
    depth: parent === null ? 0 : parent.depth + 1,
    conversation: storage.conversationId,
    background: false,
    isTemporary: isTemporaryChat(originalRequest),
  }
  const buildTurn = (request: ClientRequest): NewTurn => ({
    ...draft,
    ...selectRequestPartsToStore(request),
  })
  const plainRule = createRetentionRule(client, dialect, ports.settings)
  const rule = continuesAnswer(recallResult) ? keepCalls(plainRule) : plainRule
  const { receivesMarkers } = client
  const writing = { isWorthStoring: rule.isWorthStoring, receivesMarkers }
  const recording = {
    turnId: draft.id,
    rule,
    onTimeout: () => ports.log('warn', 'turn-late', { turn: draft.id }),
    waitUntil,
  }
  if (isRequested) {
    // A stored response lists the restored items; a stored chat lists the items as the client sent them.
    const turn = buildTurn(dialect === 'chat' ? originalRequest : clientRequest)
    const turnWithParent = findParentTurn(turn, parent, ports)
    const openWriter = () => openTurnWriter(turn, { ...writing, turnWithParent, lock }, ports)
    return createRecorder({ ...recording, isRequested, openWriter })
  }
  if (recordForConnection !== null) {
    const before = [...history.items, ...originalRequest.items]
    return recordForConnection(buildTurn(originalRequest), before)
  }
  if (storage.store === false || recallResult === null) return NOT_RECORDED
  // The turn is built only when it is opened: most exchanges never are.
  const openWriter = () => {
    const turnWithParent = Promise.resolve(
      placeRecalledTurn(buildTurn(originalRequest), recallResult),
    )
    return openTurnWriter(draft, { ...writing, turnWithParent, lock: null }, ports)
  }
  return createRecorder({ ...recording, isRequested, openWriter })
}

/** True if the request has no new items, so that the model continues its latest answer. */
function continuesAnswer(recallResult: LoadedHistory['recallResult']): boolean {
  return (
    recallResult !== null && recallResult.latestTurn !== null && recallResult.newItems.length === 0
  )
}

/** Stores calls too: the client sends the calls of a continued answer back as if they were part of the first answer. */
function keepCalls(rule: ItemRetentionRule): ItemRetentionRule {
  return {
    ...rule,
    isWorthStoring: (item) => rule.isWorthStoring(item) || callEndOf(item)?.side === 'call',
  }
}

/** Adds the parent, known from recall. Large fields are omitted: the client never retrieves this turn by its id. */
function placeRecalledTurn(
  turn: NewTurn,
  { latestTurn, parent, newItems }: NonNullable<LoadedHistory['recallResult']>,
): { readonly turn: NewTurn; readonly contentHash: null } {
  const placed = {
    ...turn,
    thread: latestTurn?.thread ?? turn.id,
    parent: parent?.id ?? null,
    depth: parent === null ? 0 : parent.depth + 1,
    input: replaceMediaByFingerprint(newItems),
    request: keepShortFields(turn.request),
  }
  return { turn: placed, contentHash: null }
}

/** Selects the short fields of a request, not its tools, which are large and sent with every request. */
function keepShortFields(request: JsonObject): JsonObject {
  const isShort = (value: unknown): boolean =>
    typeof value === 'string' ? value.length < 100 : typeof value !== 'object' || value === null
  return Object.fromEntries(Object.entries(request).filter(([, value]) => isShort(value)))
}

/**
 * Selects the parts of a request that its turn stores: the fields except for the items, the input items,
 * and for a chat completion the metadata, by which it can be listed.
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

/** Omits `instructions` sent as a list of items: they come first in the input, and apply to one request only. */
function omitInstructionItems(
  items: readonly Item[],
  { instructions }: JsonObject,
): readonly Item[] {
  return Array.isArray(instructions) ? items.slice(instructions.length) : items
}
