/**
 * The ids of the calls of one answer. What the service names stays; where it names none, or the same
 * once more, an id is invented, so that a call can be answered, recorded and found by it.
 *
 * It is made of what is known: who answers (`answer`), what was asked, and the place of the call. So
 * it is the same however often the answer is read, and another for every answer of a conversation;
 * and it is none that the conversation has already.
 */
import { isToolItem, type Item } from '../../core/item.ts'
import { shortHash } from '../short-hash.ts'

export function createCallIdGenerator(
  answer: () => string,
  asked: readonly Item[],
): (givenId: string) => string {
  const taken = new Set<string>()
  let known: ReadonlySet<string> | null = null
  let seed = ''

  const invented = (givenId: string): string => {
    if (known === null) {
      known = idsIn(asked)
      seed = `${answer()} ${asked.length} ${JSON.stringify(asked.at(-1) ?? null)}`
    }
    let id = givenId
    do id = `call_${shortHash(`${seed} ${taken.size} ${id}`)}`
    while (taken.has(id) || known.has(id))
    return id
  }
  return (givenId) => {
    const id = givenId === '' || taken.has(givenId) ? invented(givenId) : givenId
    taken.add(id)
    return id
  }
}

function idsIn(items: readonly Item[]): ReadonlySet<string> {
  return new Set(items.flatMap((item) => (isToolItem(item) ? [item.call_id] : [])))
}
