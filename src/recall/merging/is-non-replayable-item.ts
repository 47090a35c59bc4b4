/**
 * Recognizes items of hosted tools (tools that the upstream runs) that must not be sent again.
 * Either providers reject them in a prompt, or they describe only a past state, e.g. the time.
 *
 * Web and file searches of OpenAI are sent again, because OpenAI rejects a search without its
 * reasoning and reasoning without its search. If both were dropped, the model would search again.
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
