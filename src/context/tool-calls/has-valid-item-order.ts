/**
 * Whether a list is plainly in order: calls stand in one piece with their outputs behind them, reasoning
 * in front of something that was made, and no id twice in a turn. Most lists are, so that nothing has to
 * be paired, compared or moved; of some that are in order as well it is not seen at this glance.
 */
import type { Item } from '../../core/item.ts'
import { callEndOf } from '../../core/items/tool-call-pairs.ts'

export function hasValidItemOrder(items: readonly Item[]): boolean {
  /** The calls whose outputs are still to come. */
  const waiting = new Set<string>()
  const ids = new Set<string>()
  let isAnswering = false
  let isThought = false
  for (const item of items) {
    switch (item.type) {
      case 'message':
        if (waiting.size > 0 || (isThought && item.role !== 'assistant')) return false
        if (item.role === 'user') ids.clear()
        isThought = false
        break
      case 'reasoning':
        if (waiting.size > 0) return false
        isThought = true
        break
      case 'function_call': {
        const { call_id: id, name } = item
        if (isAnswering || id === '' || name === '' || ids.has(id)) return false
        ids.add(id)
        waiting.add(id)
        isThought = false
        break
      }
      case 'function_call_output': {
        if (isThought || !waiting.delete(item.call_id)) return false
        isAnswering = waiting.size > 0
        break
      }
      case 'custom_tool_call':
      case 'custom_tool_call_output':
        return false
      case 'opaque':
        if (waiting.size > 0 || callEndOf(item) !== null) return false
        isThought = false
        break
    }
  }
  return waiting.size === 0 && !isThought
}
