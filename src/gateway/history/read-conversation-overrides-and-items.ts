/** Reads the policy overrides and the items of a conversation, and marks the last item before its reset. */
import type { Item } from '../../core/item.ts'
import { setGatewayFields } from '../../core/items/gateway-fields.ts'
import type { PolicyOverrides } from '../../core/context-policy.ts'
import { readStoredPolicyOverrides } from '../../dialects/context-policy/parse-and-format-overrides.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { ConversationState } from '../../store/conversations/conversation-store-interface.ts'
import type { StoredTurn } from '../../store/turns/turn-store-interface.ts'
import { excludeDeletedItems } from './exclude-deleted-items.ts'
import type { Ports } from '../dependencies-interface.ts'

export type ConversationSettings = Pick<ConversationState, 'context' | 'resetAfterTurnId'>

/** Returns the stored policy overrides of a conversation; none if they cannot be read, e.g. those of a newer version. */
export function readConversationOverrides(
  { context }: Pick<ConversationSettings, 'context'>,
  { log }: Ports<'log'>,
): readonly PolicyOverrides[] {
  if (context === null) return []
  try {
    return [readStoredPolicyOverrides(context, 'context')]
  } catch (error) {
    log('warn', 'context-not-understood', { why: errorMessage(error) })
    return []
  }
}

/**
 * Returns all items of a chain of turns. If the conversation was reset, the last item before the reset gets
 * the field `reset: 'behind'`; `dropBeforeReset` later drops this item and all items before it.
 */
export function listConversationItems(
  chain: readonly StoredTurn[],
  { resetAfterTurnId }: Pick<ConversationSettings, 'resetAfterTurnId'>,
): readonly Item[] {
  const resetIndex = chain.findIndex(({ id }) => id === resetAfterTurnId)
  const before = chain.slice(0, resetIndex + 1).flatMap(excludeDeletedItems)
  const last = before.pop()
  if (last === undefined) return chain.flatMap(excludeDeletedItems)
  const after = chain.slice(resetIndex + 1).flatMap(excludeDeletedItems)
  return [...before, setGatewayFields(last, { reset: 'behind' }), ...after]
}
