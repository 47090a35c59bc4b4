/**
 * Loads the history that a request names by id: all turns up to the response in `previous_response_id`, or
 * all turns of the conversation in `conversation`.
 */
import type { ClientRequest } from '../../core/client-request.ts'
import type { Caller } from '../../core/client/caller.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Origin } from '../../core/item.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import type { Note } from '../../core/note.ts'
import { turnIdOfResponse } from '../../core/turn-derived-ids.ts'
import type { ConversationState } from '../../store/conversations/conversation-store-interface.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import type { StoredTurn } from '../../store/turns/turn-store-interface.ts'
import { type LoadedHistory, type ReasoningRejection, NO_HISTORY } from './loaded-history.ts'
import { createConversationNotFoundError, type ConversationLock } from './lock-conversation.ts'
import {
  listConversationItems,
  readConversationOverrides,
  type ConversationSettings,
} from './read-conversation-overrides-and-items.ts'
import type { Ports } from '../dependencies-interface.ts'

export type HistoryByIdPorts = Ports<'conversations' | 'log' | 'store'>

/**
 * Returns `NO_HISTORY` for a request without an id. `lock`: the lock of the request's conversation; null if none is
 * locked.
 */
export async function loadHistoryById(
  clientRequest: ClientRequest,
  caller: Caller,
  ports: HistoryByIdPorts,
  lock: ConversationLock | null = null,
): Promise<LoadedHistory> {
  const { previousResponseId, conversationId } = clientRequest.storage
  if (previousResponseId !== null)
    return loadHistoryOfResponse(clientRequest, previousResponseId, caller, ports)
  if (conversationId === null) return NO_HISTORY
  const conversation = lock ?? (await findConversation(conversationId, caller, ports))
  if (conversation === null) throw createConversationNotFoundError(conversationId, 'conversation')
  const { headTurnId } = conversation
  const chain = headTurnId === null ? null : await loadChain(headTurnId, caller, ports)
  return buildHistory(clientRequest, chain ?? [], conversation, ports)
}

async function loadHistoryOfResponse(
  clientRequest: ClientRequest,
  id: string,
  caller: Caller,
  ports: HistoryByIdPorts,
): Promise<LoadedHistory> {
  const turnId = turnIdOfResponse(id)
  const chain = turnId === null ? null : await loadChain(turnId, caller, ports)
  const parent = chain?.at(-1)
  if (chain === null || parent === undefined || !canBeContinuedById(parent))
    throw createResponseNotFoundError(id)
  const { state } = parent
  if (state === 'queued' || state === 'open' || state === 'failed')
    throw createNotContinuableError(id, state)
  // If the response belongs to a conversation, its policy overrides and its reset apply to the new turn too.
  const conversation = await findConversation(parent.conversation, caller, ports)
  return buildHistory(clientRequest, chain, conversation ?? NO_SETTINGS, ports)
}

const NO_SETTINGS: ConversationSettings = { context: null, resetAfterTurnId: null }

function buildHistory(
  { items }: ClientRequest,
  chain: readonly StoredTurn[],
  conversation: ConversationSettings,
  ports: Ports<'log'>,
): LoadedHistory {
  return {
    ...NO_HISTORY,
    policyOverrides: readConversationOverrides(conversation, ports),
    items: listConversationItems(chain, conversation),
    parent: chain.at(-1) ?? null,
    notes: chain.flatMap(noteUnreadableItems),
    usedTurns: chain,
    reasoningRejections: chain.flatMap(listReasoningRejections),
    countReportedTokens: (origin) => findReportedTokens(chain, origin),
    firstAnswerOfRoundAtMs: items.some(isUserMessage) ? null : findLatestQuestionTime(chain),
  }
}

/**
 * Returns a note about items of the turn that are missing from the history, because they cannot be decrypted or
 * parsed.
 */
function noteUnreadableItems({ id, unreadable }: StoredTurn): readonly Note[] {
  if (unreadable === undefined) return []
  const detail = `Turn ${id} has ${unreadable} such items.`
  return [{ did: 'dropped', why: 'unreadable', detail }]
}

function findLatestQuestionTime(chain: readonly StoredTurn[]): number | null {
  return chain.findLast(({ input }) => input.some(isUserMessage))?.createdAtMs ?? null
}

function findReportedTokens(chain: readonly StoredTurn[], origin: Origin): number | null {
  const turn = chain.findLast(({ output }) => output.some((item) => item.origin === origin))
  const { usage = null } = turn ?? {}
  return usage?.newestTokens ?? usage?.totalTokens ?? null
}

export function listReasoningRejections({
  reasoningRefusedBy,
  output,
}: Pick<StoredTurn, 'reasoningRefusedBy' | 'output'>): readonly ReasoningRejection[] {
  const origin = output.find((item) => item.origin !== undefined)?.origin
  if (reasoningRefusedBy === null || origin === undefined) return []
  return [{ account: reasoningRefusedBy, origin }]
}

/** True if a client may continue the turn by its id: it is a response, not a chat completion, and not deleted. */
function canBeContinuedById({ dialect, deletedAtMs }: StoredTurn): boolean {
  return dialect === 'responses' && deletedAtMs === null
}

async function findConversation(
  id: string | null,
  caller: Caller,
  { conversations }: Ports<'conversations'>,
): Promise<ConversationState | null> {
  return id === null
    ? null
    : queryStoreOrThrow(() => conversations.findConversation(caller, id, 'fail'))
}

function loadChain(turnId: string, caller: Caller, { store }: Ports<'store'>) {
  return queryStoreOrThrow(() => store.loadChain(caller, turnId))
}

function createResponseNotFoundError(id: string): GatewayError {
  return new GatewayError(
    'previous_response_not_found',
    `Previous response with id '${id.slice(0, 80)}' not found.`,
    { param: 'previous_response_id' },
  )
}

function createNotContinuableError(id: string, state: 'queued' | 'open' | 'failed'): GatewayError {
  const problem = state === 'failed' ? 'has failed' : 'is still in progress'
  return new GatewayError(
    'invalid_value',
    `Previous response with id '${id}' ${problem}, so it cannot be continued.`,
    { param: 'previous_response_id' },
  )
}
