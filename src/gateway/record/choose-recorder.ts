/**
 * Who keeps the answer to a request: what its client originalRequest to have stored is recorded from the
 * beginning; of what it did not ask for is remembered what it will have forgotten; of what it wants
 * forgotten nothing is kept.
 */
import type { JsonObject } from '../../core/json/json.ts'
import { callEndOf } from '../../core/items/tool-call-pairs.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import type { NewTurn } from '../../store/turns/turn-store-interface.ts'
import type { GatewayDependencies } from '../dependencies-interface.ts'
import type { ConversationLock } from '../history/lock-conversation.ts'
import { filterRecordedItems } from './filter-recorded-items.ts'
import { selectRequestPartsToStore } from './select-request-parts-to-store.ts'
import type { LoadedHistory } from '../history/load-history-by-id.ts'
import { addTurnOpenTimeout } from './add-turn-open-timeout.ts'
import { findParentTurn } from './find-parent-turn.ts'
import { recordTurn } from './record-turn.ts'
import { NOT_RECORDED, type Recorder } from './recorder-interface.ts'
import { recordTurnOnDemand, type ItemRetentionRule } from './record-turn-on-demand.ts'
import { replaceMediaByFingerprint } from './replace-media-by-fingerprint.ts'
import { createRetentionRule } from './item-retention-rule.ts'

/** What of a turn is known without its history. */
export type TurnIdentity = Pick<
  NewTurn,
  'id' | 'tenant' | 'user' | 'owner' | 'origin' | 'createdAtMs' | 'dialect'
>

/** What a turn stands on. */
interface Grounds {
  /** The request as its client means it, before anything was put into it. */
  readonly originalRequest: ClientRequest
  /** The same with what was put into it. */
  readonly clientRequest: ClientRequest
  readonly history: LoadedHistory
  readonly hold: ConversationLock | null
}

export function chooseRecorder(
  bare: TurnIdentity,
  { originalRequest, clientRequest, history, hold }: Grounds,
  world: GatewayDependencies,
  waitUntil: (work: Promise<unknown>) => void,
): Recorder {
  const { storage, client } = originalRequest
  const { parent, recallResult } = history
  // Housekeeping leaves nothing, unless its client says so itself.
  const isStored = storage.store ?? (storage.storeByDefault && !client.isTask)
  const found = {
    ...bare,
    thread: parent?.thread ?? bare.id,
    parent: parent?.id ?? null,
    depth: parent === null ? 0 : parent.depth + 1,
    conversation: storage.conversationId,
    background: false,
    isTemporary: client.isTemporary && storage.store !== true,
  }
  const bareWorth = createRetentionRule(client, originalRequest.dialect, world.settings)
  const worth = goesOn(recallResult) ? withCalls(bareWorth) : bareWorth
  const { isWorth } = worth
  const { receivesMarkers } = client
  const late = () => world.log('warn', 'turn-late', { turn: found.id })
  if (isStored) {
    const turn: NewTurn = {
      ...found,
      ...selectRequestPartsToStore(storedForm(originalRequest, clientRequest)),
    }
    const recording = {
      placed: findParentTurn(turn, parent, world),
      hold,
      isWorth,
      isMarked: receivesMarkers,
    }
    return addTurnOpenTimeout(
      filterRecordedItems(worth.isKept, recordTurn(turn, recording, world), turn.id),
      late,
    )
  }
  const turnOf = (): NewTurn => ({ ...found, ...selectRequestPartsToStore(originalRequest) })
  const aside = world.aside?.(turnOf(), [...history.items, ...originalRequest.items])
  if (aside !== undefined) return aside
  if (storage.store === false || recallResult === null) return NOT_RECORDED
  // Nearly always nothing comes of it, and then nothing is made of the request either.
  const open = () => {
    const placed = Promise.resolve(rememberedTurn(turnOf(), recallResult))
    return recordTurn(found, { placed, hold: null, isWorth, isMarked: receivesMarkers }, world)
  }
  return recordTurnOnDemand(open, worth, { late, waitUntil })
}

function goesOn(recollection: LoadedHistory['recallResult']): boolean {
  return (
    recollection !== null && recollection.latestTurn !== null && recollection.newItems.length === 0
  )
}

/** In what its client sends back, a call looks like one of the answer that it goes on with. */
function withCalls(worth: ItemRetentionRule): ItemRetentionRule {
  return { ...worth, isWorth: (item) => worth.isWorth(item) || callEndOf(item)?.side === 'call' }
}

/**
 * Stored is what the model was told, with what its client had forgotten, so that whoever goes on from
 * there is given all of it. A stored chat is listed as the messages that its client sent.
 */
function storedForm(originalRequest: ClientRequest, clientRequest: ClientRequest): ClientRequest {
  return originalRequest.dialect === 'chat' ? originalRequest : clientRequest
}

/** What is known of where it stands needs not be found out, and its client asks for nothing of it. */
function rememberedTurn(
  turn: NewTurn,
  { latestTurn, parent, newItems }: NonNullable<LoadedHistory['recallResult']>,
): { readonly turn: NewTurn; readonly contentHash: null } {
  const placed = {
    ...turn,
    thread: latestTurn?.thread ?? turn.id,
    parent: parent?.id ?? null,
    depth: parent === null ? 0 : parent.depth + 1,
    input: replaceMediaByFingerprint(newItems),
    request: shortFields(turn.request),
  }
  return { turn: placed, contentHash: null }
}

/** The settings of a request; its tools are sent with every request and are large. */
function shortFields(request: JsonObject): JsonObject {
  const isShort = (value: unknown): boolean =>
    typeof value === 'string' ? value.length < 100 : typeof value !== 'object' || value === null
  return Object.fromEntries(Object.entries(request).filter(([, value]) => isShort(value)))
}
