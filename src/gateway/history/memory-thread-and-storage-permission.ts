/**
 * Resolves under which thread the memory layers of a conversation are stored, and whether the client
 * and the settings allow to store anything of a request.
 */
import type { ClientRequest } from '../../core/client-request.ts'
import type { Settings } from '../../settings/read-settings.ts'
import type { DerivedDataOrigin } from '../../store/deletion/derived-data-origin.ts'
import type { LoadedHistory } from './loaded-history.ts'

export interface MemoryThread extends DerivedDataOrigin {
  /**
   * The id of the conversation, or of the first turn of the chat. Null if nothing of the chat is stored:
   * a later request could not find its memory.
   */
  readonly thread: string | null
  /** The latest stored turn before the answer. */
  readonly parent: string | null
  readonly isTemporary: boolean
}

/** `turnId`: the turn of the answer, which may start a new thread; null before the answer is stored. */
export function resolveMemoryThread(
  clientRequest: ClientRequest,
  {
    parent,
    recallResult,
    loadedAtMs,
  }: Pick<LoadedHistory, 'parent' | 'recallResult' | 'loadedAtMs'>,
  turnId: string | null,
): MemoryThread {
  const latestTurn = parent ?? recallResult?.latestTurn ?? null
  const newThread = isStorageRequested(clientRequest) ? turnId : null
  return {
    thread:
      clientRequest.storage.conversationId ??
      parent?.conversation ??
      latestTurn?.thread ??
      newThread,
    parent: latestTurn?.id ?? null,
    begunAtMs: loadedAtMs,
    isTemporary: isTemporaryChat(clientRequest),
  }
}

/**
 * True if the turn is stored, or if its hidden items (reasoning, for example) may be stored because the
 * client sends its complete chat and did not send `store: false`.
 */
export function mayStoreRequest(
  clientRequest: ClientRequest,
  { recallResult }: Pick<LoadedHistory, 'recallResult'>,
): boolean {
  if (isStorageRequested(clientRequest)) return true
  return clientRequest.storage.store !== false && recallResult !== null
}

/**
 * True if memory of the chat (layers, gateway tool calls) may be stored. Recall finds it again only with
 * `PERSIST_TOOL_RESULTS=on`.
 */
export function mayStoreMemory(
  clientRequest: ClientRequest,
  history: Pick<LoadedHistory, 'recallResult'>,
  settings: Pick<Settings, 'PERSIST_TOOL_RESULTS'>,
): boolean {
  if (isStorageRequested(clientRequest)) return true
  return settings.PERSIST_TOOL_RESULTS === 'on' && mayStoreRequest(clientRequest, history)
}

/** True for a temporary chat of Open WebUI, unless the request says `store: true`. */
export function isTemporaryChat({ storage, client }: ClientRequest): boolean {
  return client.isTemporary && storage.store !== true
}

/** True if the turn is to be stored. Task requests (titles, tags) are stored only on `store: true`. */
export function isStorageRequested({ storage, client }: ClientRequest): boolean {
  return storage.store ?? (storage.storeByDefault && !client.isTask)
}
