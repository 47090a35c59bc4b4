/** Hosted items that no service takes back, or that stand for something that was true only then. */
import type { Item } from '../conversation/item.ts'

export function isNeverReplayed(item: Item): boolean {
  return item.type === 'opaque' && NEVER_REPLAYED.has(item.raw['type'])
}

const NEVER_REPLAYED: ReadonlySet<unknown> = new Set([
  'image_generation_call',
  'local_shell_call',
  'openrouter:image_generation',
  'openrouter:web_search',
  'openrouter:web_fetch',
  'openrouter:datetime',
])
