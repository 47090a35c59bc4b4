/**
 * Loads the history that a request names by id: the stored turns up to a `previous_response_id`, or all
 * turns of a conversation. The new turn follows the last of them.
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

/** `lock`: the lock of the conversation, if the request adds a turn to one. */
export async function loadHistoryById(
  clientRequest: ClientRequest,
  caller: Caller,
  ports: Ports<'conversations' | 'log' | 'store'>,
  lock: ConversationLock | null = null,
): Promise<LoadedHistory> {
  const { previousResponseId, conversationId } = clientRequest.storage
  if (previousResponseId !== null)
    return loadHistoryOfResponse(clientRequest, previousResponseId, caller, ports)
  if (conversationId === null) return NO_HISTORY
  const conversation = lock ?? (await findConversation(conversationId, caller, ports))
  const { head } = conversation
  const chain = head === null ? null : await loadChain(head, caller, ports)
  return buildHistory(clientRequest, chain ?? [], conversation, ports)
}

async function loadHistoryOfResponse(
  clientRequest: ClientRequest,
  id: string,
  caller: Caller,
  ports: Ports<'conversations' | 'log' | 'store'>,
): Promise<LoadedHistory> {
  const turnId = turnIdOfResponse(id)
  const chain = turnId === null ? null : await loadChain(turnId, caller, ports)
  const parent = chain?.at(-1)
  if (chain === null || parent === undefined || !isAvailableResponse(parent))
    throw createResponseNotFoundError(id)
  const { state } = parent
  if (state === 'queued' || state === 'open' || state === 'failed')
    throw createNotContinuableError(id, state)
  const conversation = await findConversationOfTurn(parent, caller, ports)
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
    answerStartedAtMs: items.some(isUserMessage) ? null : findLatestQuestionTime(chain),
  }
}

/** Notes items that cannot be decrypted or parsed. The note has no `at`: the items are in no list. */
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

/** False for a chat completion and a deleted response: neither can be continued by a response id. */
function isAvailableResponse({ dialect, deletedAtMs }: StoredTurn): boolean {
  return dialect === 'responses' && deletedAtMs === null
}

/** Finds the conversation of a `previous_response_id`, because its policy overrides apply to the new turn too. */
async function findConversationOfTurn(
  { conversation }: StoredTurn,
  caller: Caller,
  { conversations }: Ports<'conversations'>,
): Promise<ConversationState | null> {
  if (conversation === null) return null
  return queryStoreOrThrow(() => conversations.findConversation(caller, conversation))
}

async function findConversation(
  id: string,
  caller: Caller,
  { conversations }: Ports<'conversations'>,
): Promise<ConversationState> {
  const conversation = await queryStoreOrThrow(() => conversations.findConversation(caller, id))
  if (conversation === null) throw createConversationNotFoundError(id, 'conversation')
  return conversation
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
