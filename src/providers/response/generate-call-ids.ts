/**
 * Chooses the ids of the tool calls of one answer. The upstream's id is used, unless it is empty or
 * repeated; then a generated id such as `call_4fTq0zB1c` replaces it.
 *
 * A generated id is a hash of the upstream's id of the answer (`getAnswerId`), the prompt and the
 * index of the call. So it is the same if an answer is decoded again, and differs from all other
 * ids in the conversation.
 */
import { isToolItem, type Item } from '../../core/item.ts'
import { shortHash } from '../short-hash.ts'

export function createCallIdGenerator(
  getAnswerId: () => string,
  promptItems: readonly Item[],
): (upstreamId: string) => string {
  const usedIds = new Set<string>()
  let promptIds: ReadonlySet<string> | null = null
  let seed = ''

  const generateId = (upstreamId: string): string => {
    if (promptIds === null) {
      promptIds = collectCallIds(promptItems)
      seed = `${getAnswerId()} ${promptItems.length} ${JSON.stringify(promptItems.at(-1) ?? null)}`
    }
    let id = upstreamId
    do id = `call_${shortHash(`${seed} ${usedIds.size} ${id}`)}`
    while (usedIds.has(id) || promptIds.has(id))
    return id
  }
  return (upstreamId) => {
    const id = upstreamId === '' || usedIds.has(upstreamId) ? generateId(upstreamId) : upstreamId
    usedIds.add(id)
    return id
  }
}

function collectCallIds(items: readonly Item[]): ReadonlySet<string> {
  return new Set(items.flatMap((item) => (isToolItem(item) ? [item.call_id] : [])))
}
