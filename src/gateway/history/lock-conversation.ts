/**
 * Locks a conversation for one request, so that only one request at a time adds a turn. The lock is
 * renewed every 20 s until it is released; the lock of a dead process expires after 60 s.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import { GatewayError, errorMessage, createNotFoundError } from '../../core/errors/gateway-error.ts'
import type { ConversationState } from '../../store/conversations/conversation-store-interface.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import type { Ports } from '../dependencies-interface.ts'

export interface ConversationLock extends ConversationState {
  readonly conversation: string
  /** Stops the renewal without a release, for a write that closes the turn and releases the lock. */
  readonly stopRenewing: () => void
  readonly release: () => Promise<void>
}

/** Lifetime of a lock without renewal. A busy process pauses for less; after a crash, clients wait this long. */
export const LOCK_LEASE_MS = 60_000

/** Returns null if the request adds no turn to a conversation. `turnId` is the turn that it adds. */
export async function lockRequestConversation(
  { storage }: ClientRequest,
  caller: Caller,
  turnId: string,
  ports: Ports<'conversations' | 'log' | 'nowMs'>,
): Promise<ConversationLock | null> {
  const { conversationId, store, storeByDefault } = storage
  if (conversationId === null || !(store ?? storeByDefault)) return null
  return lockConversation(conversationId, caller, turnId, ports, 'conversation')
}

/** `param`: the request field that names the conversation, for error messages. */
export async function lockConversation(
  id: string,
  { tenant, user }: Caller,
  turnId: string,
  ports: Ports<'conversations' | 'log' | 'nowMs'>,
  param: string | null,
): Promise<ConversationLock> {
  const { conversations, nowMs, log } = ports
  const holder = { id, tenant, user, by: turnId }
  const createLease = () => ({ ...holder, nowMs: nowMs(), untilMs: nowMs() + LOCK_LEASE_MS })
  const result = await queryStoreOrThrow(() => conversations.lockConversation(createLease()))
  if (result.type !== 'held') {
    throw result.type === 'busy'
      ? createConversationLockedError()
      : createConversationNotFoundError(id, param)
  }
  const logFailure = (event: string, error: unknown): void =>
    log('warn', event, { conversation: id, why: errorMessage(error) })
  const timer = setInterval(() => {
    conversations
      .renewLock(createLease())
      .catch((error: unknown) => logFailure('hold-not-renewed', error))
  }, LOCK_LEASE_MS / 3)
  const stopRenewing = (): void => clearInterval(timer)
  const { head, context, resetAfterTurnId } = result
  return {
    conversation: id,
    head,
    context,
    resetAfterTurnId,
    stopRenewing,
    async release() {
      stopRenewing()
      // A lock that cannot be released expires.
      await conversations.unlockConversation(holder).catch((error: unknown) => {
        logFailure('hold-not-released', error)
      })
    },
  }
}

export function createConversationNotFoundError(id: string, param: string | null): GatewayError {
  return createNotFoundError(`Conversation with id '${id.slice(0, 80)}' not found.`, param)
}

export function createConversationLockedError(): GatewayError {
  return new GatewayError(
    'conversation_locked',
    'Another process is currently operating on this conversation. Please retry in a few seconds.',
    { param: 'conversation' },
  )
}
