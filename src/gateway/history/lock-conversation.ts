/**
 * Locks a conversation, so that only one request at a time adds a turn to it. The lock lasts RUN_LEASE_SECONDS,
 * and the gateway renews it until the request is done. So the lock of a crashed process expires together with
 * the lease of that process.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import { GatewayError, errorMessage, createNotFoundError } from '../../core/errors/gateway-error.ts'
import type {
  ConversationLockHolder,
  ConversationLockRequest,
  ConversationState,
} from '../../store/conversations/conversation-store-interface.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import type { Ports } from '../dependencies-interface.ts'

export interface ConversationLock extends ConversationState {
  readonly conversationId: string
  /** Stops the renewal but does not release the lock: the statement that closes the turn does that. */
  readonly stopRenewing: () => void
  readonly release: () => Promise<void>
}

/**
 * Locks the conversation to which the request adds the turn `turnId`; returns null if it adds none to a
 * conversation.
 */
export async function lockRequestConversation(
  { storage }: ClientRequest,
  caller: Caller,
  turnId: string,
  ports: Ports<'conversations' | 'log' | 'settings'>,
): Promise<ConversationLock | null> {
  const { conversationId, store, storeByDefault } = storage
  if (conversationId === null || !(store ?? storeByDefault)) return null
  return lockConversation(conversationId, caller, turnId, ports, 'conversation')
}

/**
 * Throws a GatewayError if the conversation is locked or unknown. `param`: the request field to name if it is
 * unknown.
 */
export async function lockConversation(
  id: string,
  { tenant, user }: Caller,
  turnId: string,
  ports: Ports<'conversations' | 'log' | 'settings'>,
  param: string | null,
): Promise<ConversationLock> {
  const { conversations, settings, log } = ports
  const holder = { conversationId: id, tenant, user, turnId }
  const leaseMs = settings.RUN_LEASE_SECONDS * 1000
  const request = { ...holder, leaseMs }
  cancelLateRelease(holder, ports)
  const result = await queryStoreOrThrow(() =>
    conversations.lockConversation(request).catch((error: unknown) => {
      // The database may have locked the conversation, although its answer did not arrive.
      keepReleasing(request, ports)
      throw error
    }),
  )
  if (result.type !== 'held') {
    throw result.type === 'busy'
      ? createConversationLockedError()
      : createConversationNotFoundError(id, param)
  }
  const logFailure = (event: string) => (error: unknown) =>
    log('warn', event, { conversation: id, why: errorMessage(error) })
  const timer = setInterval(
    () => void conversations.renewLock(request).catch(logFailure('hold-not-renewed')),
    leaseMs / 3,
  )
  const stopRenewing = (): void => clearInterval(timer)
  const { headTurnId, context, resetAfterTurnId } = result
  return {
    conversationId: id,
    headTurnId,
    context,
    resetAfterTurnId,
    stopRenewing,
    async release() {
      stopRenewing()
      await conversations.unlockConversation(holder).catch((error: unknown) => {
        logFailure('hold-not-released')(error)
        keepReleasing(request, ports)
      })
    },
  }
}

/**
 * Tries to release the lock until the database answers again, so that a short outage does not lock the conversation for
 * a whole lease. Gives up after the length of a lease, when the lock has expired.
 */
function keepReleasing(
  { leaseMs, ...holder }: ConversationLockRequest,
  { conversations }: Ports<'conversations'>,
): void {
  const key = formatHolder(holder)
  const timers = LATE_RELEASES.get(conversations) ?? new Map<string, LateRelease>()
  LATE_RELEASES.set(conversations, timers)
  const startedAtMs = performance.now()
  const release = async (): Promise<void> => {
    try {
      await conversations.unlockConversation(holder)
      timers.delete(key)
    } catch {
      // If the timer is no longer in the map, the same turn has locked the conversation again.
      if (!timers.has(key)) return
      if (performance.now() - startedAtMs < leaseMs) schedule()
      else timers.delete(key)
    }
  }
  const schedule = (): void => {
    const timer = setTimeout(() => void release(), LATE_RELEASE_INTERVAL_MS)
    // The timer must not keep a finished process alive. On Workers, it is a number without `unref`.
    if (typeof timer === 'object') timer.unref()
    timers.set(key, timer)
  }
  schedule()
}

/**
 * Stops releasing a lock. Called before the same turn locks the conversation again, because a late release would end
 * the new lock.
 */
function cancelLateRelease(
  holder: ConversationLockHolder,
  { conversations }: Ports<'conversations'>,
): void {
  const timers = LATE_RELEASES.get(conversations)
  clearTimeout(timers?.get(formatHolder(holder)))
  timers?.delete(formatHolder(holder))
}

const LATE_RELEASE_INTERVAL_MS = 500

function formatHolder({ tenant, user, conversationId, turnId }: ConversationLockHolder): string {
  return JSON.stringify([tenant, user, conversationId, turnId])
}

type LateRelease = ReturnType<typeof setTimeout>

/** For each database, the timers of the locks that are to be released. */
const LATE_RELEASES = new WeakMap<object, Map<string, LateRelease>>()

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
