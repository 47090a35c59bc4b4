/**
 * Checks quickly whether a list certainly needs no pruning: outputs directly follow their calls, reasoning is followed
 * by a model item, and no call id repeats in a round. Most lists pass, which saves pairing calls with outputs. A list
 * that fails may still be valid; `pruneOrphans` then finds nothing to change.
 */
import type { Item } from '../../core/item.ts'
import { readToolCallIdentity } from '../../core/items/tool-call-pairs.ts'

export function certainlyNeedsNoPruning(items: readonly Item[]): boolean {
  /** The ids of calls whose output has not come yet. */
  const waiting = new Set<string>()
  const ids = new Set<string>()
  let isBetweenOutputs = false
  let followsReasoning = false
  for (const item of items) {
    switch (item.type) {
      case 'message':
        if (waiting.size > 0 || (followsReasoning && item.role !== 'assistant')) return false
        if (item.role === 'user') ids.clear()
        followsReasoning = false
        break
      case 'reasoning':
        if (waiting.size > 0) return false
        followsReasoning = true
        break
      case 'function_call': {
        const { call_id: id, name } = item
        if (isBetweenOutputs || id === '' || name === '' || ids.has(id)) return false
        ids.add(id)
        waiting.add(id)
        followsReasoning = false
        break
      }
      case 'function_call_output': {
        if (followsReasoning || !waiting.delete(item.call_id)) return false
        isBetweenOutputs = waiting.size > 0
        break
      }
      case 'custom_tool_call':
      case 'custom_tool_call_output':
        return false
      case 'opaque':
        if (waiting.size > 0 || readToolCallIdentity(item) !== null) return false
        followsReasoning = false
        break
    }
  }
  return waiting.size === 0 && !followsReasoning
}
