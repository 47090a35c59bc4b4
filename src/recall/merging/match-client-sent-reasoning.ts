/** Which recorded reasoning a client has brought along itself: the very object, its id, or sealed the same. */
import type { Item } from '../../core/item.ts'
import { listReasoningKeys } from '../compare-items.ts'

/** Finds one of the thoughts; the first, if several are the same. */
export function createReasoningFinder(thoughts: readonly Item[]): (thought: Item) => Item | null {
  if (thoughts.length === 0) return () => null
  const same = new Set(thoughts)
  const named = new Map<string, Item>()
  for (const thought of thoughts) {
    for (const name of listReasoningKeys(thought)) if (!named.has(name)) named.set(name, thought)
  }
  return (thought) => {
    if (same.has(thought)) return thought
    for (const name of listReasoningKeys(thought)) {
      const found = named.get(name)
      if (found !== undefined) return found
    }
    return null
  }
}
