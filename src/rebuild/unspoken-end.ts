/**
 * The turn behind whose last item only the client can know words: it ended in what its client is not
 * shown, a thought, a search or a tool of the house. What follows was cut off before it was recorded,
 * or is of an answer that went on from there and was not worth keeping; it stands behind all of the turn.
 */
import { isOfHouse } from '../conversation/house.ts'
import type { Item } from '../conversation/item.ts'
import type { RememberedTurn } from '../conversation/remembered.ts'
import { endKey } from './outputs-at-hand.ts'

/** `turns` are those of a run, `given` is what the client sends of it; `null` if there is no such turn. */
export function unspokenEnd(
  turns: readonly RememberedTurn[],
  given: readonly Item[],
): RememberedTurn | null {
  const turn = turns.findLast(({ output }) => output.some(isMessage) || endsUnspoken(output))
  if (turn === undefined || !endsUnspoken(turn.output)) return null
  // A client that brings a search along says itself on which side of it the words are.
  const last = given.findLast((item) => isMessage(item) || isSearch(item))
  return last === undefined || isMessage(last) ? turn : null
}

function endsUnspoken(output: readonly Item[]): boolean {
  const last = output.at(-1)
  return last !== undefined && (last.type === 'reasoning' || isOfHouse(last) || isSearch(last))
}

function isMessage({ type }: Item): boolean {
  return type === 'message'
}

/** Or whatever else a service has made by itself. A call is its client's to know. */
function isSearch(item: Item): boolean {
  return item.type === 'opaque' && endKey(item, 'call') === null
}
