/** Routes for conversations: create, read, change the metadata of, and delete them. */
import type { Caller } from '../../core/client/caller.ts'
import { conversationId } from '../../core/turn-derived-ids.ts'
import { TIMED_OUT, waitWithTimeout } from '../../core/async/wait-with-timeout.ts'
import { createStoreUnavailableError } from '../../core/errors/gateway-error.ts'
import { OPEN_WAIT_MS } from '../../gateway/record/create-recorder.ts'
import { isObject, type JsonObject } from '../../core/json/json.ts'
import { readOptional } from '../../dialects/checks/check-json-types.ts'
import {
  readPolicyOverrides,
  formatPolicyOverrides,
} from '../../dialects/context-policy/parse-and-format-overrides.ts'
import { asMetadata } from '../../dialects/checks/check-value-limits.ts'
import {
  createConversationLockedError,
  createConversationNotFoundError,
} from '../../gateway/history/lock-conversation.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import type { Conversation } from '../../store/conversations/conversation-store-interface.ts'
import { parseAddedItems, createItemOnlyTurn } from './create-item-only-turn.ts'
import type { AuthenticatedRequest } from '../authenticate-request.ts'
import { readMetadata, requireIdPrefix, type StoredObjectRoute } from './route-interface.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'

export const CONVERSATION_ROUTES: readonly StoredObjectRoute[] = [
  { method: 'POST', path: '/conversations', handle: createConversation },
  { method: 'GET', path: '/conversations/:id', handle: readConversation },
  { method: 'POST', path: '/conversations/:id', handle: updateMetadata },
  { method: 'DELETE', path: '/conversations/:id', handle: deleteConversation },
]

async function createConversation(
  { readJsonObject, caller, exchange }: AuthenticatedRequest,
  ports: Ports<'archive' | 'conversations' | 'newTurnId' | 'nowMs' | 'settings'>,
) {
  const body = await readJsonObject()
  const creating = storeConversation(body, caller, ports)
  exchange.waitUntil(creating.catch(() => undefined))
  // Waits no longer for a slow database than the start of an answer does.
  const created = await waitWithTimeout(creating, OPEN_WAIT_MS)
  if (created === TIMED_OUT)
    throw createStoreUnavailableError(
      'The conversation was not created in time, because the database does not answer. Try again in a moment.',
    )
  return created
}

async function storeConversation(
  body: JsonObject,
  caller: Caller,
  ports: Ports<'archive' | 'conversations' | 'newTurnId' | 'nowMs' | 'settings'>,
): Promise<JsonObject> {
  const metadata = readOptional(asMetadata, body['metadata'], 'metadata') ?? {}
  const items = await parseAddedItems(body['items'] ?? [], caller, ports)
  const conversation = {
    id: conversationId(ports.newTurnId()),
    tenant: caller.tenant,
    user: caller.user,
    metadata,
    createdAtMs: ports.nowMs(),
    context: checkConversationOverrides(body['backstory'], 'backstory'),
  }
  const position = { conversation: conversation.id, head: null, turnId: ports.newTurnId() }
  const turn = items.length === 0 ? null : createItemOnlyTurn(items, position, caller, ports)
  await ports.conversations.createConversation(conversation, turn)
  return renderConversation({ ...conversation, headTurnId: null, resetAfterTurnId: null })
}

async function readConversation(
  request: AuthenticatedRequest,
  { conversations }: Ports<'conversations'>,
) {
  const id = readConversationId(request)
  return renderConversationOrThrow(await conversations.findConversation(request.caller, id), id)
}

async function updateMetadata(
  request: AuthenticatedRequest,
  { conversations }: Ports<'conversations'>,
) {
  const id = readConversationId(request)
  const metadata = await readMetadata(request)
  const changed = await conversations.replaceMetadata(request.caller, id, metadata)
  return renderConversationOrThrow(changed, id)
}

async function deleteConversation(
  request: AuthenticatedRequest,
  { conversations, nowMs }: Ports<'conversations' | 'nowMs'>,
) {
  const id = readConversationId(request)
  const result = await conversations.deleteConversation(request.caller, id, nowMs())
  if (result === 'unknown') throw createConversationNotFoundError(id, null)
  if (result === 'busy') throw createConversationLockedError()
  return { id, object: 'conversation.deleted', deleted: true }
}

export function readConversationId({ getPathParameter }: AuthenticatedRequest): string {
  return requireIdPrefix(getPathParameter('id'), 'conv', 'conversation_id')
}

/** Loads a conversation. Throws an error if the caller has none with this id. */
export async function requireConversation(
  id: string,
  param: string | null,
  caller: Caller,
  { conversations }: Ports<'conversations'>,
): Promise<Conversation> {
  const conversation = await queryStoreOrThrow(() => conversations.findConversation(caller, id))
  if (conversation === null) throw createConversationNotFoundError(id, param)
  return conversation
}

function renderConversationOrThrow(conversation: Conversation | null, id: string): JsonObject {
  if (conversation === null) throw createConversationNotFoundError(id, null)
  return renderConversation(conversation)
}

/**
 * Checks the policy overrides of a conversation and returns the JSON to store: null for none, the
 * client's object unchanged, or for a policy's name such as `"lean"` an equivalent object.
 */
export function checkConversationOverrides(value: unknown, path: string): JsonObject | null {
  if (value === null || value === undefined) return null
  const overrides = readPolicyOverrides(value, path)
  return isObject(value) ? value : formatPolicyOverrides(overrides)
}

export function renderConversation({ id, createdAtMs, metadata }: Conversation): JsonObject {
  return { id, object: 'conversation', created_at: Math.floor(createdAtMs / 1000), metadata }
}
