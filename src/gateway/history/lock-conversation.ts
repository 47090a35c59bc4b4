/**
 * One run at a time goes on with a conversation. A run holds it from its beginning to its end, and
 * says every now and then that it still does: what a dead process held is free after a while.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { Inbound } from '../../core/client-request.ts'
import { GatewayError, messageOf, notFound } from '../../core/errors/gateway-error.ts'
import type { ConversationPlace } from '../../store/conversations/conversation-store-interface.ts'

import type { World } from '../dependencies-interface.ts'
import { askMemory } from '../../store/query-store-or-throw.ts'

export interface Hold extends ConversationPlace {
  readonly conversation: string
  /** Says no more that it is held; for whoever lets it go together with something else. */
  readonly stop: () => void
  readonly letGo: () => Promise<void>
}

/** Long enough for a process to be busy with something else, short enough to wait for. */
export const HOLD_MS = 60_000

/** `null` for a request that adds to no conversation. `by` is the turn that it will add. */
export async function holdFor(
  { memory }: Inbound,
  caller: Caller,
  by: string,
  world: World,
): Promise<Hold | null> {
  const { conversationId, store, storeByDefault } = memory
  if (conversationId === null || !(store ?? storeByDefault)) return null
  return holdConversation(conversationId, caller, by, world, 'conversation')
}

export async function holdConversation(
  id: string,
  { tenant, user }: Caller,
  by: string,
  world: World,
  param: string | null,
): Promise<Hold> {
  const { conversations, nowMs, log } = world
  const holder = { id, tenant, user, by }
  const hold = () => ({ ...holder, nowMs: nowMs(), untilMs: nowMs() + HOLD_MS })
  const held = await askMemory(() => conversations.holdConversation(hold()))
  if (held.type !== 'held') {
    throw held.type === 'busy' ? conversationLocked() : unknownConversation(id, param)
  }
  const tell = (event: string, error: unknown): void =>
    log('warn', event, { conversation: id, why: messageOf(error) })
  const timer = setInterval(() => {
    conversations.renewHold(hold()).catch((error: unknown) => tell('hold-not-renewed', error))
  }, HOLD_MS / 3)
  const stop = (): void => clearInterval(timer)
  const { head, context, resetAfter } = held
  return {
    conversation: id,
    head,
    context,
    resetAfter,
    stop,
    async letGo() {
      stop()
      // It goes by itself after a while.
      await conversations.letGo(holder).catch((error: unknown) => {
        tell('hold-not-released', error)
      })
    },
  }
}

export function unknownConversation(id: string, param: string | null): GatewayError {
  return notFound(`Conversation with id '${id.slice(0, 80)}' not found.`, param)
}

export function conversationLocked(): GatewayError {
  return new GatewayError(
    'conversation_locked',
    'Another process is currently operating on this conversation. Please retry in a few seconds.',
    { param: 'conversation' },
  )
}
