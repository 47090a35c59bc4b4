/**
 * Loads the history of a request: by the id in the request (`load-history-by-id.ts`), or by recall if the
 * client sends its complete chat (`load-history-by-recall.ts`).
 */
import type { ClientRequest } from '../../core/client-request.ts'
import type { Caller } from '../../core/client/caller.ts'
import { readOwnValue } from '../../core/json/json.ts'
import { dropRepeatedHistory } from '../../recall/drop-repeated-history.ts'
import { splitIntoSegments } from '../../recall/split-and-fingerprint-segments.ts'
import { loadHistoryById, type HistoryByIdPorts } from './load-history-by-id.ts'
import { loadHistoryByRecall } from './load-history-by-recall.ts'
import { locateNewAnswer } from './locate-new-answer.ts'
import type { LoadedHistory, RequestHistory } from './loaded-history.ts'
import type { ConversationLock } from './lock-conversation.ts'
import { replaceRequestItems } from './replace-request-items.ts'
import { resolveItemReferences } from './resolve-item-references.ts'
import type { Ports } from '../dependencies-interface.ts'

type HistoryPorts = HistoryByIdPorts &
  Ports<'answerMessages' | 'archive' | 'nowMs' | 'recall' | 'settings'>

/** Returns the request with its history. `lock`: the lock of the request's conversation; null if none is locked. */
export async function loadRequestHistory(
  clientRequest: ClientRequest,
  caller: Caller,
  ports: HistoryPorts,
  lock: ConversationLock | null = null,
): Promise<RequestHistory> {
  const loadedAtMs = ports.nowMs()
  const loaded = await loadByIdOrRecall(clientRequest, caller, ports, lock)
  const { policyOverrides } = loaded.history
  const keyOverrides = readOwnValue(ports.settings.CONTEXT.keys, caller.tenant)
  const history = {
    ...loaded.history,
    loadedAtMs,
    policyOverrides:
      keyOverrides === undefined ? policyOverrides : [keyOverrides, ...policyOverrides],
  }
  return { ...loaded, history }
}

async function loadByIdOrRecall(
  clientRequest: ClientRequest,
  caller: Caller,
  ports: HistoryPorts,
  lock: ConversationLock | null,
): Promise<RequestHistory> {
  const resolved = await resolveItemReferences(clientRequest, caller, ports)
  const history = await loadHistoryById(resolved, caller, ports, lock)
  const { previousResponseId, conversationId } = resolved.storage
  if (previousResponseId !== null) return addFingerprintSource(dropRepeatedItems(resolved, history))
  if (conversationId !== null)
    return { originalRequest: resolved, clientRequest: resolved, history }
  return loadHistoryByRecall(resolved, caller, ports)
}

/**
 * Adds what the answer's fingerprint needs, for a client that sends a response id now and perhaps the complete
 * chat in its next request. Open WebUI does so: it sends ids only within a tool loop. A client that repeats
 * items of a stored response beside its id may do so too.
 */
function addFingerprintSource(loaded: RequestHistory): RequestHistory {
  const { clientRequest, history } = loaded
  if (!clientRequest.client.isOpenWebUi && clientRequest.originalItems === undefined) return loaded
  const items = [...history.items, ...clientRequest.items]
  const { segments, nextFingerprintInput } = splitIntoSegments(items)
  const answerMessage = locateNewAnswer(clientRequest, items, segments)
  return {
    ...loaded,
    history: { ...history, fingerprintInput: { nextFingerprintInput }, answerMessage },
  }
}

/** Drops items of the request that the history has too: some clients send a response id and repeat its items. */
function dropRepeatedItems(request: ClientRequest, history: LoadedHistory): RequestHistory {
  const { items, notes } = dropRepeatedHistory(history.items, request.items)
  const clientRequest = replaceRequestItems(request, items)
  if (clientRequest === request) return { originalRequest: request, clientRequest, history }
  const movedNotes = notes.map((note) =>
    note.at === undefined ? note : { ...note, at: note.at + history.items.length },
  )
  return {
    originalRequest: clientRequest,
    clientRequest,
    history: { ...history, notes: [...history.notes, ...movedNotes] },
  }
}
