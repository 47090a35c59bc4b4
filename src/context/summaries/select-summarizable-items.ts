/**
 * What of a conversation a summary may stand for, and may tell: what was said since it was last reset,
 * and nothing of authors who are not shown.
 */
import type { Item } from '../../core/item.ts'
import type { ContextPolicy } from '../../core/context-policy.ts'
import { dropBeforeReset } from '../windows/drop-before-reset.ts'

export interface SummarizableItems {
  readonly items: readonly Item[]
  readonly hidden: readonly string[]
}

export function selectSummarizableItems(
  items: readonly Item[],
  { speakers }: Pick<ContextPolicy, 'speakers'>,
): SummarizableItems {
  return { items: dropBeforeReset().run(items).items, hidden: speakers.hidden }
}
