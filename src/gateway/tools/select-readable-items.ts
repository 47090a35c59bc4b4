/**
 * What of a conversation a model may ask for: all that was said, whatever of it was cut or left out to
 * save room, but nothing from before a reset and nothing of hidden authors.
 */
import type { Item } from '../../core/item.ts'
import type { SpeakerRules } from '../../core/context-policy.ts'
import { dropBeforeReset } from '../../context/windows/drop-before-reset.ts'
import { hideAuthors } from '../../context/speakers/hide-authors.ts'

/** The very same list, if that is all of it. */
export function selectReadableItems(
  items: readonly Item[],
  { hidden }: Pick<SpeakerRules, 'hidden'>,
): readonly Item[] {
  const since = dropBeforeReset().run(items).items
  return hidden.length === 0 ? since : hideAuthors(hidden).run(since).items
}
