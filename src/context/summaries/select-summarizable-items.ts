/**
 * Selects the items that a summary may replace: those since the last reset. Also returns the authors that the policy
 * hides, because the summary must not mention their messages.
 */
import type { Item } from '../../core/item.ts'
import type { ContextPolicy } from '../../core/context-policy.ts'
import { dropBeforeReset } from '../windows/drop-before-reset.ts'

export interface SummarizableItems {
  readonly items: readonly Item[]
  /** The ids or names of hidden authors. */
  readonly hiddenAuthors: readonly string[]
}

export function selectSummarizableItems(
  items: readonly Item[],
  { speakers }: Pick<ContextPolicy, 'speakers'>,
): SummarizableItems {
  return { items: dropBeforeReset().run(items).items, hiddenAuthors: speakers.hidden }
}
