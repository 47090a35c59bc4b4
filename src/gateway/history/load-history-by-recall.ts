/**
 * Restores stored items, such as reasoning and tool outputs, that a client leaves out when it sends its
 * complete chat. One query finds the stored turns by the markers, call ids and fingerprints in the chat;
 * `recall/restore-forgotten-items.ts` then inserts the turns' items.
 *
 * If the database fails or times out, the model is sent the chat as the client sent it.
 */
import type { ClientRequest } from '../../core/client-request.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import type { Note } from '../../core/note.ts'
import { restoreForgottenItems } from '../../recall/restore-forgotten-items.ts'
import {
  splitIntoSegments,
  type SegmentedHistory,
} from '../../recall/split-and-fingerprint-segments.ts'
import { NO_TURNS_FOUND, type FoundTurns } from '../../store/recall/recall-store-interface.ts'
import { listReasoningRejections } from './load-history-by-id.ts'
import { type RequestHistory, NO_HISTORY, type LoadedHistory } from './loaded-history.ts'
import { queryStoreOrNull } from './query-store-or-null.ts'
import { replaceRequestItems } from './replace-request-items.ts'
import type { Ports } from '../dependencies-interface.ts'

export async function loadHistoryByRecall(
  originalRequest: ClientRequest,
  caller: Caller,
  ports: Ports<'log' | 'recall' | 'settings'>,
): Promise<RequestHistory> {
  const { settings } = ports
  if (settings.REMEMBER !== 'on' || originalRequest.client.isTask)
    return { originalRequest, clientRequest: originalRequest, history: NO_HISTORY }
  const segmented = splitIntoSegments(originalRequest.items)
  const found = await findTurns(segmented, caller, ports)
  const { turns, excludedTurnIds } = found ?? NO_TURNS_FOUND
  const policy = { replaysTools: settings.PERSIST_TOOL_RESULTS === 'on' }
  const restored = restoreForgottenItems(
    originalRequest.items,
    segmented,
    turns,
    policy,
    excludedTurnIds,
  )
  const { notes, parent, firstTurnOfAnswer, newItemsStart, usedTurns } = restored
  const itemsAfterLastAnswer = originalRequest.items.slice(newItemsStart)
  const latestStoredTurn = parent ?? findLatestTurn(usedTurns)
  const parentOfNewTurn = itemsAfterLastAnswer.length > 0 ? latestStoredTurn : parent
  const recallResult = { latestStoredTurn, parentOfNewTurn, itemsAfterLastAnswer }
  const history: LoadedHistory = {
    ...NO_HISTORY,
    notes: found === null ? [...notes, NOT_RECALLED] : notes,
    usedTurns,
    // Retains only one field of `segmented`: the others would keep the text of the complete chat in memory.
    fingerprintInput: { nextFingerprintInput: segmented.nextFingerprintInput },
    recallResult,
    reasoningRejections: usedTurns.flatMap(listReasoningRejections),
    firstAnswerOfRoundAtMs: firstTurnOfAnswer?.createdAtMs ?? null,
  }
  const clientRequest = replaceRequestItems(originalRequest, restored.items)
  return { originalRequest, clientRequest, history }
}

/** Returns the stored turns that the chat's markers, call ids and fingerprints find; null after a failure or timeout. */
async function findTurns(
  { lookupKeys }: SegmentedHistory,
  { tenant, user }: Caller,
  { recall, log }: Ports<'log' | 'recall'>,
): Promise<FoundTurns | null> {
  const { turnIds, callIds, fingerprints } = lookupKeys
  if (turnIds.length + callIds.length + fingerprints.length === 0) return NO_TURNS_FOUND
  const query = () => recall.findTurns({ tenant, user, ...lookupKeys })
  return queryStoreOrNull(query, 'not-recalled', log)
}

const NOT_RECALLED: Note = {
  did: 'dropped',
  why: 'memory-not-reached',
  by: 'recall',
  detail: 'The database did not answer in time, so the chat was sent without its backstory.',
}

/** Returns the latest turn: the one with the greatest id, because an id begins with the turn's time. */
function findLatestTurn(turns: readonly RecordedTurn[]): RecordedTurn | null {
  return turns.reduce<RecordedTurn | null>(
    (latest, turn) => (latest === null || turn.id > latest.id ? turn : latest),
    null,
  )
}
