/**
 * Turns that end in what their client is not shown: a thought, a search or a tool of the house. Words
 * that only the client has may stand behind all of such a turn. They were cut off before they were
 * recorded, or are of an answer that went on from there and was not worth keeping.
 */
import { isGatewayToolItem } from '../../core/items/gateway-tool-items.ts'
import type { Item } from '../../core/item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { toolCallKey } from '../find-recorded-tool-outputs.ts'
import { turnLacksNewInput } from '../matching/turn-lacks-new-input.ts'

/**
 * The turn behind which the last words of a run stand, if they are not recorded. `given` is what the
 * client sends of the run. `null` if its last words are more of a recorded text, or in front of everything.
 */
export function findInvisibleTail(
  turns: readonly RecordedTurn[],
  clientItems: readonly Item[],
): RecordedTurn | null {
  const turn = turns.findLast(({ output }) => output.some(isMessage) || endsInvisibly(output))
  if (turn === undefined || !endsInvisibly(turn.output)) return null
  // A client that brings a search along says itself on which side of it the words are.
  const lastItem = clientItems.findLast((item) => isMessage(item) || isHostedItem(item))
  return lastItem === undefined || isMessage(lastItem) ? turn : null
}

/**
 * Whether it went on from words and says nothing itself, so that all of it stands where its marker does:
 * what is in front of that is what it went on from.
 */
export function isInvisibleTurn(turn: RecordedTurn): boolean {
  const { output } = turn
  return turnLacksNewInput(turn) && endsInvisibly(output) && !output.some(isMessage)
}

function endsInvisibly(output: readonly Item[]): boolean {
  const lastItem = output.at(-1)
  return (
    lastItem !== undefined &&
    (lastItem.type === 'reasoning' || isGatewayToolItem(lastItem) || isHostedItem(lastItem))
  )
}

function isMessage({ type }: Item): boolean {
  return type === 'message'
}

/** Or whatever else a service has made by itself. A call is its client's to know. */
function isHostedItem(item: Item): boolean {
  return item.type === 'opaque' && toolCallKey(item, 'call') === null
}
