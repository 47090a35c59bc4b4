/**
 * Pairs tool calls with their outputs, and assigns each call an id that this wire accepts. Real
 * conversations contain repeated ids, so calls and outputs with the same id are paired in order. A
 * replacement id depends only on earlier items, so the next request uses the same id.
 */
import { isToolCall, isToolOutput, type Item } from '../../../core/item.ts'
import type { AnthropicNotes } from './encoding-context.ts'
import { hashText } from '../pack-thinking-block.ts'

export interface ToolCallPairs {
  /** The index of the output, by the index of its call. */
  readonly outputByCall: ReadonlyMap<number, number>
  readonly idByCall: ReadonlyMap<number, string>
  /** Indexes of the outputs whose call is in the conversation. */
  readonly pairedOutputs: ReadonlySet<number>
  /** True if an item that is no tool output is between the two indexes. */
  readonly areSeparated: (from: number, to: number) => boolean
}

export function pairToolCalls(items: readonly Item[], notes: AnthropicNotes): ToolCallPairs {
  const openCalls = new Map<string, number[]>()
  const outputByCall = new Map<number, number>()
  const idByCall = new Map<number, string>()
  const pairedOutputs = new Set<number>()
  const uses = new Map<string, number>()
  const nonOutputsBefore: number[] = []
  let count = 0
  for (const [at, item] of items.entries()) {
    nonOutputsBefore.push(count)
    if (isToolOutput(item)) {
      const call = openCalls.get(item.call_id)?.shift()
      if (call === undefined) continue
      outputByCall.set(call, at)
      pairedOutputs.add(at)
      continue
    }
    count += 1
    if (!isToolCall(item)) continue
    const calls = openCalls.get(item.call_id)
    if (calls === undefined) openCalls.set(item.call_id, [at])
    else calls.push(at)
    const id = chooseId(item.call_id, uses)
    idByCall.set(at, id)
    if (id !== item.call_id) notes.write('call-id-changed', { at })
  }
  return {
    outputByCall,
    idByCall,
    pairedOutputs,
    areSeparated: (from, to) => nonOutputsBefore[from] !== nonOutputsBefore[to],
  }
}

const VALID_ID = /^[a-zA-Z0-9_-]{1,64}$/

/**
 * Returns the id if it is valid and not used yet, otherwise a replacement. `uses` counts the uses
 * of each id.
 */
function chooseId(id: string, uses: Map<string, number>): string {
  const name = VALID_ID.test(id) ? id : `call_${hashText(id)}`
  let suffix = (uses.get(name) ?? 0) + 1
  let unique = name
  while (uses.has(unique)) unique = `call_${hashText(name)}_${suffix++}`
  uses.set(name, suffix)
  uses.set(unique, 1)
  return unique
}
