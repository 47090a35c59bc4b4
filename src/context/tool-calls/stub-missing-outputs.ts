/**
 * Gives each call in the middle of a conversation that never got its output one that says so. It
 * stands behind the batch that the call was made in, as an output of its own would.
 *
 * Only outputs that are words can say this, those of functions and of custom tools. A call at the
 * running end, with nothing behind it but its own batch, waits for its output and is left alone.
 * The list is in order already: `pruneOrphans` with the policy `stub` comes before.
 */
import type { Item } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import { UNPAIRED, callEndOf, findToolCallPairs } from '../../core/items/tool-call-pairs.ts'
import { ITEM_TRAITS } from '../scan-items.ts'
import type { Transform } from '../transform-interface.ts'

/** Says nothing about the tool: whether a call that was interrupted had an effect, nobody knows. */
export const STUB_OUTPUT_TEXT =
  '[No result of this tool call was recorded. It may or may not have run.]'

export function stubMissingOutputs(): Transform {
  return {
    name: 'answer-calls',
    needs: ITEM_TRAITS.modelItem,
    prefixStability: 'lasting',
    run(items) {
      const stubs = stubsBehind(items)
      if (stubs.size === 0) return { items, notes: [] }
      const notes: Note[] = []
      const answered: Item[] = []
      for (const [at, item] of items.entries()) {
        answered.push(item)
        const more = stubs.get(at) ?? []
        answered.push(...more)
        for (const _ of more) notes.push({ did: 'added', why: 'output-stubbed' })
      }
      return { items: answered, notes }
    },
  }
}

/** `null` for a call whose output cannot be told in words, and for what is no call. */
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

/** What is to be added behind which place. */
function stubsBehind(items: readonly Item[]): ReadonlyMap<number, readonly Item[]> {
  const partners = findToolCallPairs(items)
  const stubs = new Map<number, readonly Item[]>()
  let open: Item[] = []
  let end = UNPAIRED
  let isAnswered = false
  for (const [at, item] of items.entries()) {
    const side = callEndOf(item)?.side ?? null
    if (item.type === 'message' || (isAnswered && side !== 'output')) {
      if (open.length > 0) stubs.set(end, open)
      open = []
      isAnswered = false
    }
    // Reasoning that leads to something else stands behind the batch.
    if (item.type === 'message' || item.type === 'reasoning') continue
    end = at
    if (side === 'output') isAnswered = true
    const stub = side === 'call' && partners[at] === UNPAIRED ? createStubOutput(item) : null
    if (stub !== null) open.push(stub)
  }
  return stubs
}
