/**
 * What holds for a conversation beside its turns: what its context is to be, and where it was reset.
 */
import type { Item } from '../conversation/item.ts'
import { withItemField } from '../conversation/item-field.ts'
import type { Wishes } from '../conversation/policy.ts'
import { readKeptWishes } from '../dialect/wishes.ts'
import { messageOf } from '../errors.ts'
import type { ConversationPlace } from '../store/conversation-store.ts'
import type { StoredTurn } from '../store/store.ts'
import type { World } from '../world.ts'
import { visibleItems } from './visible-items.ts'

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
