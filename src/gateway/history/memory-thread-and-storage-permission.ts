/**
 * Resolves the thread (tree of turns, or conversation) that the memory of a chat belongs to, and decides whether
 * the client and the settings allow the gateway to store anything of a request.
 */
import type { ClientRequest } from '../../core/client-request.ts'
import type { Settings } from '../../settings/read-settings.ts'
import type { DerivedDataSource } from '../../store/deletion/expiry-and-deletion-store-interface.ts'
import { type LoadedHistory, getLatestStoredTurn } from './loaded-history.ts'

export interface MemoryThread extends DerivedDataSource {
  /**
   * The id of the conversation, or of the chat's first turn. Null if no turn of the chat is stored, because
   * a later request could not find the chat's memory.
   */
  readonly thread: string | null
  /** The id of the latest stored turn before the answer. */
  readonly parent: string | null
  readonly isTemporary: boolean
}

/**
 * `turnId`: the turn of the answer; null before it exists. It starts a thread if it is to be stored and the chat
 * has none.
 */
export function resolveMemoryThread(
  clientRequest: ClientRequest,
  history: Pick<LoadedHistory, 'parent' | 'recallResult' | 'loadedAtMs'>,
  turnId: string | null,
): MemoryThread {
  const latestStoredTurn = getLatestStoredTurn(history)
  const newThread = isStorageRequested(clientRequest) ? turnId : null
  return {
    thread:
      clientRequest.storage.conversationId ??
      history.parent?.conversation ??
      latestStoredTurn?.thread ??
      newThread,
    parent: latestStoredTurn?.id ?? null,
    jobStartedAtMs: history.loadedAtMs,
    isTemporary: isTemporaryChat(clientRequest),
  }
}

/**
 * True if the gateway may store the turn. There are two cases: the client asks for storage, or the client sends its
 * complete chat each time and did not send `store: false`. A client of the second kind leaves out items, e.g. reasoning,
 * and the gateway stores them for its next request.
 */
export function mayStoreRequest(
  clientRequest: ClientRequest,
  { recallResult }: Pick<LoadedHistory, 'recallResult'>,
): boolean {
  if (isStorageRequested(clientRequest)) return true
  return clientRequest.storage.store !== false && recallResult !== null
}

/**
 * True if memory of the chat (memory layers, gateway tool calls) may be stored. If the client does not ask to
 * store the turn, `PERSIST_TOOL_RESULTS` must be `on`, because recall would not find the memory again otherwise.
 */
export function mayStoreMemory(
  clientRequest: ClientRequest,
  history: Pick<LoadedHistory, 'recallResult'>,
  settings: Pick<Settings, 'PERSIST_TOOL_RESULTS'>,
): boolean {
  if (isStorageRequested(clientRequest)) return true
  return settings.PERSIST_TOOL_RESULTS === 'on' && mayStoreRequest(clientRequest, history)
}

/** True for a temporary chat of Open WebUI. */
export function isTemporaryChat({ client }: Pick<ClientRequest, 'client'>): boolean {
  return client.isTemporary
}

/** True if `store` or its default is true. For task requests (titles, tags) only an explicit `store: true` counts. */
export function isStorageRequested({ storage, client }: ClientRequest): boolean {
  return storage.store ?? (storage.storeByDefault && !client.isTask)
}
