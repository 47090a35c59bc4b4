/**
 * Chooses how an answer is recorded: completely if its client asked for it, only what the client cannot
 * send back if it did not, and not at all if the client said `store: false`.
 */
import type { ClientRequest } from '../../core/client-request.ts'
import type { Item } from '../../core/item.ts'
import { callEndOf } from '../../core/items/tool-call-pairs.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { NewTurn } from '../../store/turns/turn-store-interface.ts'
import type { LoadedHistory } from '../history/loaded-history.ts'
import type { ConversationLock } from '../history/lock-conversation.ts'
import { createRecorder, type ItemRetentionRule } from './create-recorder.ts'
import { findParentTurn } from './find-parent-turn.ts'
import { createRetentionRule } from './item-retention-rule.ts'
import { NOT_RECORDED, type Recorder } from './recorder-interface.ts'
import { replaceMediaByFingerprint } from './replace-media-by-fingerprint.ts'
import { selectRequestPartsToStore } from './select-request-parts-to-store.ts'
import { openTurnWriter } from './turn-writer.ts'
import type { Ports } from '../dependencies-interface.ts'

/** The fields of a turn that are known without its history. */
export type TurnIdentity = Pick<
  NewTurn,
  'id' | 'tenant' | 'user' | 'owner' | 'origin' | 'createdAtMs' | 'dialect'
>

interface RecordedRequest {
  /** The request as the client meant it, before forgotten items were restored. */
  readonly originalRequest: ClientRequest
  /** The same with the restored items. */
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
  // Task requests (titles, tags) are stored only if the client says so.
  const isRequested = storage.store ?? (storage.storeByDefault && !client.isTask)
  const draft = {
    ...identity,
    thread: parent?.thread ?? identity.id,
    parent: parent?.id ?? null,
    depth: parent === null ? 0 : parent.depth + 1,
    conversation: storage.conversationId,
    background: false,
    isTemporary: client.isTemporary && storage.store !== true,
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
    onLate: () => ports.log('warn', 'turn-late', { turn: draft.id }),
    waitUntil,
  }
  if (isRequested) {
    // A stored response holds what the model was sent; a stored chat is listed as the client sent it.
    const turn = buildTurn(dialect === 'chat' ? originalRequest : clientRequest)
    const placed = findParentTurn(turn, parent, ports)
    const openWriter = () => openTurnWriter(turn, { ...writing, placed, lock }, ports)
    return createRecorder({ ...recording, isRequested, openWriter })
  }
  if (recordForConnection !== null) {
    const before = [...history.items, ...originalRequest.items]
    return recordForConnection(buildTurn(originalRequest), before)
  }
  if (storage.store === false || recallResult === null) return NOT_RECORDED
  // The turn is built only when it is opened: most exchanges never are.
  const openWriter = () => {
    const placed = Promise.resolve(placeRecalledTurn(buildTurn(originalRequest), recallResult))
    return openTurnWriter(draft, { ...writing, placed, lock: null }, ports)
  }
  return createRecorder({ ...recording, isRequested, openWriter })
}

/** True if the request asks nothing new, so the model continues its latest answer. */
function continuesAnswer(recallResult: LoadedHistory['recallResult']): boolean {
  return (
    recallResult !== null && recallResult.latestTurn !== null && recallResult.newItems.length === 0
  )
}

/** The client sends the calls of a continued answer back as if they were part of the first answer. */
function keepCalls(rule: ItemRetentionRule): ItemRetentionRule {
  return {
    ...rule,
    isWorthStoring: (item) => rule.isWorthStoring(item) || callEndOf(item)?.side === 'call',
  }
}

/** The parent is known from the recalled turns, and the client never retrieves the turn by its id. */
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

/** Keeps the settings of a request but not its tools, which are large and sent with every request. */
function keepShortFields(request: JsonObject): JsonObject {
  const isShort = (value: unknown): boolean =>
    typeof value === 'string' ? value.length < 100 : typeof value !== 'object' || value === null
  return Object.fromEntries(Object.entries(request).filter(([, value]) => isShort(value)))
}
