/**
 * What the gateway remembers of the conversation that a request goes on with: the recorded items in
 * their recorded order, and the turn that the new one follows.
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

/** `hold` is the conversation of the request, if it is to be added to. */
export async function loadHistoryById(
  clientRequest: ClientRequest,
  caller: Caller,
  ports: Ports<'conversations' | 'log' | 'store'>,
  hold: ConversationLock | null = null,
): Promise<LoadedHistory> {
  const { previousResponseId, conversationId } = clientRequest.storage
  if (previousResponseId !== null)
    return afterResponse(clientRequest, previousResponseId, caller, ports)
  if (conversationId === null) return NO_HISTORY
  const place = hold ?? (await placeOf(conversationId, caller, ports))
  const chain = place.head === null ? null : await chainOf(ports, caller, place.head)
  return historyOf(clientRequest, chain ?? [], place, ports)
}

function historyOf(
  { items }: ClientRequest,
  chain: readonly StoredTurn[],
  place: ConversationSettings,
  ports: Ports<'log'>,
): LoadedHistory {
  return {
    ...NO_HISTORY,
    policyOverrides: readConversationOverrides(place, ports),
    items: listConversationItems(chain, place),
    parent: chain.at(-1) ?? null,
    notes: chain.flatMap(lossIn),
    usedTurns: chain,
    reasoningRejections: chain.flatMap(listReasoningRejections),
    countReportedTokens: (origin) => countedIn(chain, origin),
    answerStartedAtMs: items.some(isUserMessage) ? null : answeringSince(chain),
  }
}

/** It has no place any more, and nothing stands for it. */
function lossIn({ id, unreadable }: StoredTurn): readonly Note[] {
  if (unreadable === undefined) return []
  const detail = `Turn ${id} has ${unreadable} such items.`
  return [{ did: 'dropped', why: 'unreadable', detail }]
}

function answeringSince(chain: readonly StoredTurn[]): number | null {
  return chain.findLast(({ input }) => input.some(isUserMessage))?.createdAtMs ?? null
}

function countedIn(chain: readonly StoredTurn[], origin: Origin): number | null {
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

async function afterResponse(
  clientRequest: ClientRequest,
  id: string,
  owner: Caller,
  ports: Ports<'conversations' | 'log' | 'store'>,
): Promise<LoadedHistory> {
  const turnId = turnIdOfResponse(id)
  const chain = turnId === null ? null : await chainOf(ports, owner, turnId)
  const parent = chain?.at(-1)
  if (chain === null || parent === undefined || !isResponse(parent)) throw responseNotFound(id)
  const { state } = parent
  if (state === 'queued' || state === 'open' || state === 'failed') throw notUsable(id, state)
  return historyOf(clientRequest, chain, await placeBefore(parent, owner, ports), ports)
}

/** Who goes on from an answer of a conversation finds what holds for that. */
async function placeBefore(
  { conversation }: StoredTurn,
  owner: Caller,
  { conversations }: Ports<'conversations'>,
): Promise<ConversationSettings> {
  if (conversation === null) return NOTHING_HOLDS
  const place = await queryStoreOrThrow(() => conversations.findConversation(owner, conversation))
  return place ?? NOTHING_HOLDS
}

const NOTHING_HOLDS: ConversationSettings = { context: null, resetAfter: null }

/** A chat completion or a deleted response cannot be gone on from under a response's id. */
function isResponse({ dialect, deletedAtMs }: StoredTurn): boolean {
  return dialect === 'responses' && deletedAtMs === null
}

async function placeOf(
  id: string,
  owner: Caller,
  ports: Ports<'conversations'>,
): Promise<ConversationState> {
  const conversation = await queryStoreOrThrow(() =>
    ports.conversations.findConversation(owner, id),
  )
  if (conversation === null) throw createConversationNotFoundError(id, 'conversation')
  return conversation
}

function chainOf({ store }: Ports<'store'>, owner: Caller, turnId: string) {
  return queryStoreOrThrow(() => store.loadChain(owner, turnId))
}

function responseNotFound(id: string): GatewayError {
  return new GatewayError(
    'previous_response_not_found',
    `Previous response with id '${id.slice(0, 80)}' not found.`,
    { param: 'previous_response_id' },
  )
}

function notUsable(id: string, state: 'queued' | 'open' | 'failed'): GatewayError {
  const why = state === 'failed' ? 'has failed' : 'is still in progress'
  return new GatewayError(
    'invalid_value',
    `Previous response with id '${id}' ${why}, so it cannot be continued.`,
    { param: 'previous_response_id' },
  )
}
