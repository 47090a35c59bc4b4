/**
 * Selects the items that a model may read with gateway tools: also those that were shortened or dropped to save
 * tokens, but not those before a reset, nor those of hidden authors.
 */
import type { Item } from '../../core/item.ts'
import type { SpeakerRules } from '../../core/context-policy.ts'
import { dropBeforeReset } from '../../context/windows/drop-before-reset.ts'
import { hideAuthors } from '../../context/speakers/hide-authors.ts'

/** Returns the same list if all items may be read. */
export function selectReadableItems(
  items: readonly Item[],
  { hidden }: Pick<SpeakerRules, 'hidden'>,
): readonly Item[] {
  const afterReset = dropBeforeReset().run(items).items
  return hidden.length === 0 ? afterReset : hideAuthors(hidden).run(afterReset).items
}
