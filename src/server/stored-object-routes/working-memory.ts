/**
 * Routes to read, replace and delete working memory: of a conversation, of the thread of a response
 * (the chat that it belongs to), or of the requesting user. Models are sent the new content with
 * the next question.
 */
import { isObject, type JsonObject } from '../../core/json/json.ts'
import { findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { GatewayError, createNotFoundError } from '../../core/errors/gateway-error.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import { requireConversation } from './conversations.ts'
import { excludeDeletedItems } from '../../gateway/history/exclude-deleted-items.ts'
import {
  copySafeFields,
  MAX_NESTING_DEPTH,
} from '../../memory/versioned-layers/json-merge-patch.ts'
import { saveNextVersion } from '../../memory/versioned-layers/save-next-version.ts'
import {
  readWorkingMemory,
  MAX_WORKING_MEMORY_CHARS,
  WORKING_MEMORY,
} from '../../memory/versioned-layers/working-memory-layer.ts'
import type { LayerKey } from '../../store/memory-layers/memory-layer-store-interface.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { StoredTurn } from '../../store/turns/turn-store-interface.ts'
import { parseTurnId } from './thread-and-user-deletion.ts'
import type { AuthenticatedRequest } from '../authenticate-request.ts'
import { shortenForError, requireIdPrefix, type StoredObjectRoute } from './route-interface.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'

const path = '/memory/working'

export const WORKING_MEMORY_ROUTES: readonly StoredObjectRoute[] = [
  { method: 'GET', path, handle: readMemory },
  { method: 'PUT', path, handle: replaceMemory },
  { method: 'DELETE', path, handle: deleteMemory },
]

async function readMemory(
  request: AuthenticatedRequest,
  ports: Ports<'conversations' | 'layers' | 'store'>,
) {
  const { key, subject } = await loadTarget(request, ports)
  const latest = (await queryStoreOrThrow(() => ports.layers.loadVersions(key, 'fail'))).at(-1)
  return renderWorkingMemory(subject, readWorkingMemory(latest?.body ?? {}))
}

async function replaceMemory(
  request: AuthenticatedRequest,
  ports: Ports<'conversations' | 'layers' | 'newTurnId' | 'nowMs' | 'store'>,
) {
  const body = await request.readJsonObject()
  const memory = checkMemory(body['memory'])
  const { key, subject, round } = await loadTarget(request, ports)
  const origin = { jobStartedAtMs: ports.nowMs(), thread: null }
  const update = { ...origin, location: key, round, parent: null, isTemporary: false }
  await queryStoreOrThrow(() => saveNextVersion(update, () => ({ memory }), ports))
  return renderWorkingMemory(subject, memory)
}

async function deleteMemory(
  request: AuthenticatedRequest,
  ports: Ports<'conversations' | 'layers' | 'store'>,
) {
  const { key, subject } = await loadTarget(request, ports)
  const deleted = await queryStoreOrThrow(() => ports.layers.deleteVersions(key))
  return { object: 'memory.working.deleted', ...subject, deleted }
}

/**
 * The conversation, response or user that a working memory belongs to, as a field of the HTTP
 * response.
 */
type MemorySubject =
  | { readonly conversation: string }
  | { readonly response: string }
  | { readonly user: string }

interface MemoryTarget {
  readonly key: LayerKey
  readonly subject: MemorySubject
  /** Number of rounds that the conversation has so far; 0 for the memory of a user. */
  readonly round: number
}

function renderWorkingMemory(subject: MemorySubject, memory: JsonObject): JsonObject {
  return { object: 'memory.working', ...subject, memory }
}

function checkMemory(memory: unknown): JsonObject {
  if (!isObject(memory)) throw createInvalidError('memory', '`memory` must be a JSON object.')
  const copy = copySafeFields(memory)
  if (copy === null) {
    throw createInvalidError(
      'memory',
      `\`memory\` is nested more than ${MAX_NESTING_DEPTH} levels deep.`,
    )
  }
  const { length } = JSON.stringify(copy)
  if (length <= MAX_WORKING_MEMORY_CHARS) return copy
  throw createInvalidError(
    'memory',
    `\`memory\` has ${length} characters as JSON, and the maximum is ${MAX_WORKING_MEMORY_CHARS}.`,
  )
}

async function loadTarget(
  { query, caller }: AuthenticatedRequest,
  ports: Ports<'conversations' | 'store'>,
): Promise<MemoryTarget> {
  const { user } = caller
  const conversation = query.get('conversation')
  const response = query.get('response')
  if (conversation !== null) return loadConversationTarget(conversation, caller, ports)
  if (response !== null) return loadResponseTarget(response, caller, ports)
  if (user !== null) return { key: createLayerKey(caller, null), subject: { user }, round: 0 }
  const message =
    'Choose a working memory with `?conversation=conv_…` or `?response=resp_…`. Without either, the request needs a user, whose working memory is then used.'
  throw createInvalidError('conversation', message)
}

async function loadConversationTarget(
  conversation: string,
  owner: Caller,
  ports: Ports<'conversations' | 'store'>,
): Promise<MemoryTarget> {
  const id = requireIdPrefix(conversation, 'conv', 'conversation')
  const { headTurnId } = await requireConversation(id, 'conversation', owner, ports)
  const chain = headTurnId === null ? null : await loadChain(headTurnId, owner, ports)
  const round = countRounds(chain ?? [])
  return { key: createLayerKey(owner, id), subject: { conversation: id }, round }
}

async function loadResponseTarget(
  id: string,
  owner: Caller,
  ports: Ports<'store'>,
): Promise<MemoryTarget> {
  const chain = await loadChain(parseTurnId(id, 'response'), owner, ports)
  const turn = chain?.at(-1)
  if (chain === null || turn === undefined) {
    throw createNotFoundError(`There is no stored answer '${shortenForError(id)}'.`, 'response')
  }
  const key = createLayerKey(owner, turn.conversation ?? turn.thread)
  return { key, subject: { response: id }, round: countRounds(chain) }
}

function loadChain(turnId: string, owner: Caller, { store }: Ports<'store'>) {
  // The memory can be read and deleted even if the conversation cannot be decrypted.
  return queryStoreOrThrow(() => store.loadChain(owner, turnId, { undecryptable: 'leave-out' }))
}

function countRounds(chain: readonly StoredTurn[]): number {
  return findRoundStarts(chain.flatMap(excludeDeletedItems)).length
}

function createLayerKey(owner: Caller, thread: string | null): LayerKey {
  return { owner, layer: WORKING_MEMORY, thread }
}

function createInvalidError(param: string, message: string): GatewayError {
  return new GatewayError('invalid_value', message, { param })
}
