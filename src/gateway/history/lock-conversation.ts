/**
 * One run at a time goes on with a conversation. A run holds it from its beginning to its end, and
 * says every now and then that it still does: what a dead process held is free after a while.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import { GatewayError, errorMessage, createNotFoundError } from '../../core/errors/gateway-error.ts'
import type { ConversationState } from '../../store/conversations/conversation-store-interface.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import type { Ports } from '../dependencies-interface.ts'

export interface ConversationLock extends ConversationState {
  readonly conversation: string
  /** Says no more that it is held; for whoever lets it go together with something else. */
  readonly stopRenewing: () => void
  readonly release: () => Promise<void>
}

/** Long enough for a process to be busy with something else, short enough to wait for. */
export const LOCK_LEASE_MS = 60_000

/** `null` for a request that adds to no conversation. `by` is the turn that it will add. */
export async function lockRequestConversation(
  { storage }: ClientRequest,
  caller: Caller,
  by: string,
  ports: Ports<'conversations' | 'log' | 'nowMs'>,
): Promise<ConversationLock | null> {
  const { conversationId, store, storeByDefault } = storage
  if (conversationId === null || !(store ?? storeByDefault)) return null
  return lockConversation(conversationId, caller, by, ports, 'conversation')
}

export async function lockConversation(
  id: string,
  { tenant, user }: Caller,
  by: string,
  ports: Ports<'conversations' | 'log' | 'nowMs'>,
  param: string | null,
): Promise<ConversationLock> {
  const { conversations, nowMs, log } = ports
  const holder = { id, tenant, user, by }
  const hold = () => ({ ...holder, nowMs: nowMs(), untilMs: nowMs() + LOCK_LEASE_MS })
  const held = await queryStoreOrThrow(() => conversations.holdConversation(hold()))
  if (held.type !== 'held') {
    throw held.type === 'busy'
      ? createConversationLockedError()
      : createConversationNotFoundError(id, param)
  }
  const tell = (event: string, error: unknown): void =>
    log('warn', event, { conversation: id, why: errorMessage(error) })
  const timer = setInterval(() => {
    conversations.renewHold(hold()).catch((error: unknown) => tell('hold-not-renewed', error))
  }, LOCK_LEASE_MS / 3)
  const stop = (): void => clearInterval(timer)
  const { head, context, resetAfter } = held
  return {
    conversation: id,
    head,
    context,
    resetAfter,
    stopRenewing: stop,
    async release() {
      stop()
      // It goes by itself after a while.
      await conversations.letGo(holder).catch((error: unknown) => {
        tell('hold-not-released', error)
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
