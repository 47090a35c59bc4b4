/**
 * Adds an output to each call in the middle of a conversation that never got one, with the text that no
 * result was recorded. The output follows the batch of the call, like a real one.
 *
 * Only outputs of functions and custom tools can have such a text. A call in the last batch still waits for its
 * output and gets no stub. The transform expects the result of `pruneOrphans` with `unanswered: 'stub'`.
 */
import type { Item } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import {
  UNPAIRED,
  readToolCallIdentity,
  findToolCallPairs,
} from '../../core/items/tool-call-pairs.ts'
import { ITEM_TRAITS } from '../scan-items.ts'
import type { Transform } from '../transform-interface.ts'

/** The text of a stub. An interrupted call may have had an effect, so the text claims nothing about that. */
export const STUB_OUTPUT_TEXT =
  '[No result of this tool call was recorded. It may or may not have run.]'

export function stubMissingOutputs(): Transform {
  return {
    name: 'answer-calls',
    needs: ITEM_TRAITS.modelItem,
    prefixStability: 'lasting',
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

/** Returns `null` for an item that is no call, or a call whose output cannot be a text. */
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

/** Returns the outputs to add, by the index of the item that they follow. */
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
    // Reasoning after the batch leads to another group, so the stubs come before it.
    if (item.type === 'message' || item.type === 'reasoning') continue
    batchEnd = index
    if (side === 'output') hasOutput = true
    const stub = side === 'call' && partners[index] === UNPAIRED ? createStubOutput(item) : null
    if (stub !== null) open.push(stub)
  }
  return stubs
}
