/**
 * Pairs tool calls with their outputs, and replaces call ids that the API rejects. Clients send
 * repeated ids, so the first output with an id belongs to the first call with it, and so on. A
 * replacement depends only on earlier items, so later requests use the same id.
 */
import { isToolCall, isToolOutput, type Item } from '../../../core/item.ts'
import type { AnthropicNotes } from '../encoding-notes.ts'
import { hashToHex } from '../pack-thinking-block.ts'

export interface ToolCallPairs {
  /** The index of a call's output, by the index of the call. */
  readonly outputIndexByCall: ReadonlyMap<number, number>
  readonly sentIdByCall: ReadonlyMap<number, string>
  /** The indexes of the outputs whose call is in the conversation. */
  readonly pairedOutputIndexes: ReadonlySet<number>
  /** True if there is an item between the two indexes that is no tool output. */
  readonly areSeparated: (firstIndex: number, secondIndex: number) => boolean
}

export function pairToolCalls(items: readonly Item[], notes: AnthropicNotes): ToolCallPairs {
  const openCalls = new Map<string, number[]>()
  const outputByCall = new Map<number, number>()
  const idByCall = new Map<number, string>()
  const pairedOutputs = new Set<number>()
  const uses = new Map<string, number>()
  const nonOutputsBefore: number[] = []
  let count = 0
  for (const [itemIndex, item] of items.entries()) {
    nonOutputsBefore.push(count)
    if (isToolOutput(item)) {
      const call = openCalls.get(item.call_id)?.shift()
      if (call === undefined) continue
      outputByCall.set(call, itemIndex)
      pairedOutputs.add(itemIndex)
      continue
    }
    count += 1
    if (!isToolCall(item)) continue
    const calls = openCalls.get(item.call_id)
    if (calls === undefined) openCalls.set(item.call_id, [itemIndex])
    else calls.push(itemIndex)
    const id = chooseId(item.call_id, uses)
    idByCall.set(itemIndex, id)
    if (id !== item.call_id) notes.write('call-id-changed', { itemIndex })
  }
  return {
    outputIndexByCall: outputByCall,
    sentIdByCall: idByCall,
    pairedOutputIndexes: pairedOutputs,
    areSeparated: (firstIndex, secondIndex) =>
      nonOutputsBefore[firstIndex] !== nonOutputsBefore[secondIndex],
  }
}

const VALID_ID = /^[a-zA-Z0-9_-]{1,64}$/

/**
 * Returns the id if the API accepts it and no earlier call has it, otherwise a replacement. `uses`
 * counts how often each id was used.
 */
function chooseId(id: string, uses: Map<string, number>): string {
  const name = VALID_ID.test(id) ? id : `call_${hashToHex(id)}`
  let suffix = (uses.get(name) ?? 0) + 1
  let unique = name
  while (uses.has(unique)) unique = `call_${hashToHex(name)}_${suffix++}`
  uses.set(name, suffix)
  uses.set(unique, 1)
  return unique
}
