/**
 * What of a conversation a summary may stand for, and may tell: what was said since it was last reset,
 * and nothing of authors who are not shown.
 */
import type { Item } from '../../core/item.ts'
import type { ContextPolicy } from '../../core/context-policy.ts'
import { afterReset } from '../windows/drop-before-reset.ts'

export interface ToBeSummed {
  readonly items: readonly Item[]
  readonly hidden: readonly string[]
}

export function toBeSummed(
  items: readonly Item[],
  { speakers }: Pick<ContextPolicy, 'speakers'>,
): ToBeSummed {
  return { items: afterReset().run(items).items, hidden: speakers.hidden }
}
