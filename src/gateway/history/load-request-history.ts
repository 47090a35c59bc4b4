/**
 * What the gateway remembers for a request, by whatever the turns can be found: the client names one
 * (`load-history-by-id.ts`), or it sends its whole chat, in which what it has forgotten is put back
 * (`load-history-by-recall.ts`). By itself it is what a dry run begins with.
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
import { resolveItemReferences } from './resolve-item-references.ts'
import type { Ports } from '../dependencies-interface.ts'

/** `hold` is the conversation of the request, if it is to be added to. */
export async function loadRequestHistory(
  given: ClientRequest,
  caller: Caller,
  ports: Ports<'archive' | 'conversations' | 'log' | 'nowMs' | 'recall' | 'settings' | 'store'>,
  hold: ConversationLock | null = null,
): Promise<RequestHistory> {
  const loadedAtMs = ports.nowMs()
  const remembered = await rememberedFor(given, caller, ports, hold)
  const ofKey = ownValue(ports.settings.CONTEXT.keys, caller.tenant)
  const history = { ...remembered.history, loadedAtMs }
  if (ofKey === undefined) return { ...remembered, history }
  return {
    ...remembered,
    history: { ...history, policyOverrides: [ofKey, ...history.policyOverrides] },
  }
}

async function rememberedFor(
  given: ClientRequest,
  caller: Caller,
  ports: Ports<'archive' | 'conversations' | 'log' | 'recall' | 'settings' | 'store'>,
  hold: ConversationLock | null,
): Promise<RequestHistory> {
  const asked = await resolveItemReferences(given, caller, ports)
  const history = await loadHistoryById(asked, caller, ports, hold)
  const { previousResponseId, conversationId } = asked.storage
  if (previousResponseId !== null) return toBeFound(withoutCovered(asked, history))
  if (conversationId !== null) return { originalRequest: asked, clientRequest: asked, history }
  return loadHistoryByRecall(asked, caller, ports)
}

/**
 * Open WebUI names a response within a tool loop only, and sends its text with the next question. So
 * does whoever repeats what the response holds.
 */
function toBeFound(remembered: RequestHistory): RequestHistory {
  const { clientRequest, history } = remembered
  if (!clientRequest.client.isOpenWebUi && clientRequest.originalItems === undefined)
    return remembered
  const { next } = splitIntoSegments([...history.items, ...clientRequest.items])
  return { ...remembered, history: { ...history, segments: { next } } }
}

/** Who names a response need not repeat what it holds, but some do. */
function withoutCovered(asked: ClientRequest, history: LoadedHistory): RequestHistory {
  const { items, notes } = dropRepeatedHistory(history.items, asked.items)
  if (items === asked.items) return { originalRequest: asked, clientRequest: asked, history }
  const clientRequest = { ...asked, items, originalItems: asked.originalItems ?? asked.items }
  const placed = notes.map((note) =>
    note.at === undefined ? note : { ...note, at: note.at + history.items.length },
  )
  return {
    originalRequest: clientRequest,
    clientRequest,
    history: { ...history, notes: [...history.notes, ...placed] },
  }
}
