/**
 * Selects the items that a model may read with gateway tools. They include items that were shortened or
 * dropped to save tokens, but not items before a reset or of hidden authors.
 */
import type { Item } from '../../core/item.ts'
import type { SpeakerRules } from '../../core/context-policy.ts'
import { dropBeforeReset } from '../../context/windows/drop-before-reset.ts'
import { hideItemsOfAuthors } from '../../context/speakers/hide-items-of-authors.ts'

/** Returns the readable items; the same list if all items are readable. */
export function selectReadableItems(
  items: readonly Item[],
  { hidden }: Pick<SpeakerRules, 'hidden'>,
): readonly Item[] {
  const afterReset = dropBeforeReset().run(items).items
  return hidden.length === 0 ? afterReset : hideItemsOfAuthors(hidden).run(afterReset).items
}
