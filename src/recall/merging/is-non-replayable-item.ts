/**
 * Recognizes hosted items that providers reject in a prompt, or that describe only a past state.
 *
 * OpenAI's web and file searches are not among them: OpenAI accepts them, and rejects reasoning
 * without its search as well as a search without its reasoning. Dropping both would be valid, but
 * the model would search again.
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
