/**
 * Loads the history of a request: by the id that it names (`load-history-by-id.ts`), or by recall if the
 * client sends its complete chat (`load-history-by-recall.ts`).
 */
import type { ClientRequest } from '../../core/client-request.ts'
import type { Caller } from '../../core/client/caller.ts'
import { ownValue } from '../../core/json/json.ts'
import { dropRepeatedHistory } from '../../recall/drop-repeated-history.ts'
import { splitIntoSegments } from '../../recall/split-and-fingerprint-segments.ts'
import { loadHistoryById } from './load-history-by-id.ts'
import { loadHistoryByRecall } from './load-history-by-recall.ts'
import type { LoadedHistory, RequestHistory } from './loaded-history.ts'
import type { ConversationLock } from './lock-conversation.ts'
import { replaceRequestItems } from './replace-request-items.ts'
import { resolveItemReferences } from './resolve-item-references.ts'
import type { Ports } from '../dependencies-interface.ts'

/** `lock`: the lock of the conversation, if the request adds a turn to one. */
export async function loadRequestHistory(
  clientRequest: ClientRequest,
  caller: Caller,
  ports: Ports<'archive' | 'conversations' | 'log' | 'nowMs' | 'recall' | 'settings' | 'store'>,
  lock: ConversationLock | null = null,
): Promise<RequestHistory> {
  const loadedAtMs = ports.nowMs()
  const loaded = await loadByIdOrRecall(clientRequest, caller, ports, lock)
  const { policyOverrides } = loaded.history
  const keyOverrides = ownValue(ports.settings.CONTEXT.keys, caller.tenant)
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
  ports: Ports<'archive' | 'conversations' | 'log' | 'recall' | 'settings' | 'store'>,
  lock: ConversationLock | null,
): Promise<RequestHistory> {
  const resolved = await resolveItemReferences(clientRequest, caller, ports)
  const history = await loadHistoryById(resolved, caller, ports, lock)
  const { previousResponseId, conversationId } = resolved.storage
  if (previousResponseId !== null) return addSegments(omitRepeatedItems(resolved, history))
  if (conversationId !== null)
    return { originalRequest: resolved, clientRequest: resolved, history }
  return loadHistoryByRecall(resolved, caller, ports)
}

/**
 * Adds the segments that fingerprint the answer, for clients whose next request may send it as text. Open WebUI
 * names a response only within a tool loop, and sends the response's text with the next question. A
 * client that repeats the items of a stored response does the same.
 */
function addSegments(loaded: RequestHistory): RequestHistory {
  const { clientRequest, history } = loaded
  if (!clientRequest.client.isOpenWebUi && clientRequest.originalItems === undefined) return loaded
  const { next } = splitIntoSegments([...history.items, ...clientRequest.items])
  return { ...loaded, history: { ...history, segments: { next } } }
}

/** Omits items that the named response holds already: some clients send them again. */
function omitRepeatedItems(request: ClientRequest, history: LoadedHistory): RequestHistory {
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
