/**
 * What holds for a conversation beside its turns: what its context is to be, and where it was reset.
 */
import type { Item } from '../../core/item.ts'
import { setGatewayField } from '../../core/items/author-time-and-reset-fields.ts'
import type { PolicyOverrides } from '../../core/context-policy.ts'
import { readStoredPolicyOverrides } from '../../dialects/context-policy/parse-and-format-overrides.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { ConversationState } from '../../store/conversations/conversation-store-interface.ts'
import type { StoredTurn } from '../../store/turns/turn-store-interface.ts'
import { excludeDeletedItems } from './exclude-deleted-items.ts'
import type { Ports } from '../dependencies-interface.ts'

export type ConversationSettings = Pick<ConversationState, 'context' | 'resetAfter'>

/** What was written by another version, and means nothing to this one, does not cost the answer. */
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

/** All items of a chain, the last one before the reset marked as such. */
export function listConversationItems(
  chain: readonly StoredTurn[],
  { resetAfter }: Pick<ConversationSettings, 'resetAfter'>,
): readonly Item[] {
  const reset = resetAfter === null ? -1 : chain.findIndex(({ id }) => id === resetAfter)
  const before = chain.slice(0, reset + 1).flatMap(excludeDeletedItems)
  const last = before.pop()
  if (last === undefined) return chain.flatMap(excludeDeletedItems)
  const after = chain.slice(reset + 1).flatMap(excludeDeletedItems)
  return [...before, setGatewayField(last, { reset: 'behind' }), ...after]
}
