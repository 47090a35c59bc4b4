/**
 * What memories beside a conversation are kept under, so that they are found again with it and are
 * forgotten with it: the conversation, where there is one, or the thread of its turns.
 */
import type { ClientRequest } from '../../core/client-request.ts'
import type { Settings } from '../../settings/read-settings.ts'
import type { DerivedDataOrigin } from '../../store/deletion/derived-data-origin.ts'
import type { LoadedHistory } from './loaded-history.ts'

export interface MemoryThread extends DerivedDataOrigin {
  /** `null` where nothing of it is known, or will be found again. */
  readonly thread: string | null
  /** A turn of it that is kept for sure. */
  readonly parent: string | null
  readonly isTemporary: boolean
}

/** `turnId` is that of the answer, which a thread begins with; without one, it is not kept yet. */
export function resolveMemoryThread(
  clientRequest: ClientRequest,
  {
    parent,
    recallResult,
    loadedAtMs,
  }: Pick<LoadedHistory, 'parent' | 'recallResult' | 'loadedAtMs'>,
  turnId: string | null,
): MemoryThread {
  const { storage, client } = clientRequest
  const before = parent ?? recallResult?.latestTurn ?? null
  const own = isStored(clientRequest) ? turnId : null
  return {
    thread: storage.conversationId ?? parent?.conversation ?? before?.thread ?? own,
    parent: before?.id ?? null,
    begunAtMs: loadedAtMs,
    isTemporary: client.isTemporary && storage.store !== true,
  }
}

/** Whether anything may be kept of a request at all: by its client's word, by its kind, by the settings. */
export function mayStoreRequest(
  clientRequest: ClientRequest,
  { recallResult }: Pick<LoadedHistory, 'recallResult'>,
): boolean {
  return isStored(clientRequest) || (clientRequest.storage.store !== false && recallResult !== null)
}

/** Whether anything may be kept of a request, and is found again. */
export function mayStoreMemory(
  clientRequest: ClientRequest,
  { recallResult }: Pick<LoadedHistory, 'recallResult'>,
  settings: Pick<Settings, 'PERSIST_TOOL_RESULTS'>,
): boolean {
  const mayRemember = settings.PERSIST_TOOL_RESULTS === 'on'
  return (
    isStored(clientRequest) || (mayRemember && mayStoreRequest(clientRequest, { recallResult }))
  )
}

function isStored({ storage, client }: ClientRequest): boolean {
  return storage.store ?? (storage.storeByDefault && !client.isTask)
}
