/**
 * Adds a stub output to each call without an output: a text that no result was recorded. For `[call a, call b, output
 * b, answer]`, the stub of `a` follows both calls, as its output would.
 *
 * Only functions and custom tools get stubs, because other outputs are no texts. Calls at the end of the conversation
 * get none, because the client may still be running their tools. The list must be a result of `pruneOrphans` with `unansweredCalls: 'stub'`.
 */
import type { Item } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import {
  UNPAIRED,
  readToolCallIdentity,
  findToolCallPairs,
} from '../../core/items/tool-call-pairs.ts'
import { ITEM_TRAITS } from '../detect-item-traits.ts'
import type { Transform } from '../transform-interface.ts'

/** The text of a stub output. It leaves open whether the tool has run, because an interrupted call may have run. */
export const STUB_OUTPUT_TEXT =
  '[No result of this tool call was recorded. It may or may not have run.]'

export function stubMissingOutputs(): Transform {
  return {
    name: 'answer-calls',
    requiredTraits: ITEM_TRAITS.modelItem,
    prefixChanges: 'permanent',
    run(items) {
      const stubs = createStubs(items)
      if (stubs.size === 0) return { items, notes: [] }
      const added = [...stubs.values()].flat()
      return {
        items: items.flatMap((item, index) => [item, ...(stubs.get(index) ?? [])]),
        notes: added.map((): Note => ({ did: 'added', why: 'output-stubbed' })),
      }
    },
  }
}

/**
 * Returns the stub output of a call, or `null` for other items and for calls whose output cannot be a text, e.g. of a
 * shell.
 */
export function createStubOutput(item: Item): Item | null {
  const { type } = item
  if (type === 'function_call') {
    return { type: 'function_call_output', call_id: item.call_id, output: STUB_OUTPUT_TEXT }
  }
  if (type === 'custom_tool_call') {
    return { type: 'custom_tool_call_output', call_id: item.call_id, output: STUB_OUTPUT_TEXT }
  }
  return null
}

/** Returns the stub outputs to add, by the index of the item that they follow. */
function createStubs(items: readonly Item[]): ReadonlyMap<number, readonly Item[]> {
  const partners = findToolCallPairs(items)
  const stubs = new Map<number, readonly Item[]>()
  let open: Item[] = []
  let batchEnd = UNPAIRED
  let hasOutput = false
  for (const [index, item] of items.entries()) {
    const side = readToolCallIdentity(item)?.side ?? null
    if (item.type === 'message' || (hasOutput && side !== 'output')) {
      if (open.length > 0) stubs.set(batchEnd, open)
      open = []
      hasOutput = false
    }
    // Reasoning after the batch belongs to the next item, so the stubs come before the reasoning.
    if (item.type === 'message' || item.type === 'reasoning') continue
    batchEnd = index
    if (side === 'output') hasOutput = true
    const stub = side === 'call' && partners[index] === UNPAIRED ? createStubOutput(item) : null
    if (stub !== null) open.push(stub)
  }
  return stubs
}
