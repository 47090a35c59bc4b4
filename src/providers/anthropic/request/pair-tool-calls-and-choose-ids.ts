/**
 * Pairs tool calls with their outputs, and chooses the id of each call in the request, because
 * clients may repeat an id. A chosen id depends only on earlier items, so later requests contain it
 * again.
 */
import { isToolCall, isToolOutput, type Item } from '../../../core/item.ts'
import { findToolCallPairs, UNPAIRED } from '../../../core/items/tool-call-pairs.ts'
import type { AnthropicNotes } from '../encoding-notes.ts'
import { hashToHex } from '../pack-thinking-block.ts'

export interface ToolCallPairs {
  readonly outputIndexByCallIndex: ReadonlyMap<number, number>
  readonly sentIdByCallIndex: ReadonlyMap<number, string>
  /** The indexes of the outputs that belong to a call of the conversation. */
  readonly pairedOutputIndexes: ReadonlySet<number>
  /** True if an item other than a tool output is between the two indexes. */
  readonly hasOtherItemsBetween: (firstIndex: number, secondIndex: number) => boolean
}

export function pairToolCallsAndChooseIds(
  items: readonly Item[],
  notes: AnthropicNotes,
): ToolCallPairs {
  const partners = findToolCallPairs(items)
  const outputIndexByCallIndex = new Map<number, number>()
  const sentIdByCallIndex = new Map<number, string>()
  const uses = new Map<string, number>()
  const nonOutputsBefore: number[] = []
  let count = 0
  for (const [itemIndex, item] of items.entries()) {
    nonOutputsBefore.push(count)
    const partner = partners[itemIndex] ?? UNPAIRED
    if (isToolOutput(item)) {
      if (partner !== UNPAIRED) outputIndexByCallIndex.set(partner, itemIndex)
      continue
    }
    count += 1
    if (!isToolCall(item)) continue
    const id = chooseId(item.call_id, uses)
    sentIdByCallIndex.set(itemIndex, id)
    if (id !== item.call_id) notes.write('call-id-changed', { itemIndex })
  }
  return {
    outputIndexByCallIndex,
    sentIdByCallIndex,
    pairedOutputIndexes: new Set(outputIndexByCallIndex.values()),
    hasOtherItemsBetween: (firstIndex, secondIndex) =>
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
