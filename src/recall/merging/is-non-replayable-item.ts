/**
 * Hosted items that no service takes back, or that stand for something that was true only then.
 *
 * OpenAI's searches, on the web and in files, are none of them: it takes them back, and refuses
 * reasoning without the search that it led to, as well as a search without its reasoning. Leaving out
 * both would be lawful, too, and would have the model search again.
 */
import type { Item } from '../../core/item.ts'

export function isNonReplayableItem(item: Item): boolean {
  return item.type === 'opaque' && NON_REPLAYABLE_TYPES.has(item.raw['type'])
}

const NON_REPLAYABLE_TYPES: ReadonlySet<unknown> = new Set([
  'image_generation_call',
  'local_shell_call',
  'openrouter:image_generation',
  'openrouter:web_search',
  'openrouter:web_fetch',
  'openrouter:datetime',
])
