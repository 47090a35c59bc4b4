/**
 * What memories beside a conversation are kept under, so that they are found again with it and are
 * forgotten with it: the conversation, where there is one, or the thread of its turns.
 */
import type { ClientRequest } from '../../core/client-request.ts'
import type { Settings } from '../../settings/read-settings.ts'
import type { DerivedDataOrigin } from '../../store/deletion/derived-data-origin.ts'
import type { LoadedHistory } from './load-history-by-id.ts'

export interface MemoryThread extends DerivedDataOrigin {
  /** `null` where nothing of it is known, or will be found again. */
  readonly thread: string | null
  /** A turn of it that is kept for sure. */
  readonly parent: string | null
  readonly isTemporary: boolean
}

/** `turnId` is that of the answer, which a thread begins with; without one, it is not kept yet. */
export function resolveMemoryThread(
  inbound: ClientRequest,
  { parent, recollection, askedAtMs }: Pick<LoadedHistory, 'parent' | 'recollection' | 'askedAtMs'>,
  turnId: string | null,
): MemoryThread {
  const { memory, client } = inbound
  const before = parent ?? recollection?.newest ?? null
  const own = isStored(inbound) ? turnId : null
  return {
    thread: memory.conversationId ?? parent?.conversation ?? before?.thread ?? own,
    parent: before?.id ?? null,
    begunAtMs: askedAtMs,
    isTemporary: client.isTemporary && memory.store !== true,
  }
}

/** Whether anything may be kept of a request at all: by its client's word, by its kind, by the settings. */
export function mayStoreRequest(
  inbound: ClientRequest,
  { recollection }: Pick<LoadedHistory, 'recollection'>,
): boolean {
  return isStored(inbound) || (inbound.memory.store !== false && recollection !== null)
}

/** Whether anything may be kept of a request, and is found again. */
export function mayStoreMemory(
  inbound: ClientRequest,
  { recollection }: Pick<LoadedHistory, 'recollection'>,
  settings: Pick<Settings, 'PERSIST_TOOL_RESULTS'>,
): boolean {
  const mayRemember = settings.PERSIST_TOOL_RESULTS === 'on'
  return isStored(inbound) || (mayRemember && mayStoreRequest(inbound, { recollection }))
}

function isStored({ memory, client }: ClientRequest): boolean {
  return memory.store ?? (memory.storeByDefault && !client.isTask)
}
