/**
 * What holds for a conversation beside its turns: what its context is to be, and where it was reset.
 */
import type { Item } from '../../core/item.ts'
import { withItemField } from '../../core/items/author-time-and-reset-fields.ts'
import type { Wishes } from '../../core/context-policy.ts'
import { readKeptWishes } from '../../dialects/context-policy/parse-and-format-overrides.ts'
import { messageOf } from '../../core/errors/gateway-error.ts'
import type { ConversationPlace } from '../../store/conversations/conversation-store-interface.ts'
import type { StoredTurn } from '../../store/turns/turn-store-interface.ts'
import type { World } from '../dependencies-interface.ts'
import { visibleItems } from './exclude-deleted-items.ts'

export type Holding = Pick<ConversationPlace, 'context' | 'resetAfter'>

/** What was written by another version, and means nothing to this one, does not cost the answer. */
export function wishesOf(
  { context }: Pick<Holding, 'context'>,
  { log }: Pick<World, 'log'>,
): readonly Wishes[] {
  if (context === null) return []
  try {
    return [readKeptWishes(context, 'context')]
  } catch (error) {
    log('warn', 'context-not-understood', { why: messageOf(error) })
    return []
  }
}

/** All items of a chain, the last one before the reset marked as such. */
export function itemsOf(
  chain: readonly StoredTurn[],
  { resetAfter }: Pick<Holding, 'resetAfter'>,
): readonly Item[] {
  const reset = resetAfter === null ? -1 : chain.findIndex(({ id }) => id === resetAfter)
  const before = chain.slice(0, reset + 1).flatMap(visibleItems)
  const last = before.pop()
  if (last === undefined) return chain.flatMap(visibleItems)
  const after = chain.slice(reset + 1).flatMap(visibleItems)
  return [...before, withItemField(last, { reset: 'behind' }), ...after]
}
