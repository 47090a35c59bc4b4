/**
 * Recognizes turns that end with items which the client does not see: reasoning, a hosted search or
 * a gateway tool. Text that only the client has may come after such a turn: the gateway was cut off
 * before it recorded that text, or did not store the answer that continued the turn.
 */
import { isGatewayToolItem } from '../../core/items/gateway-tool-items.ts'
import type { Item } from '../../core/item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { toolCallKey } from '../find-recorded-tool-outputs.ts'
import { turnLacksNewInput } from '../matching/turn-lacks-new-input.ts'

/**
 * Returns the turn after which the client's last text of a segment comes, if that text is not
 * recorded. Returns `null` if the text belongs to a recorded message or precedes all recorded
 * items.
 */
export function findInvisibleTail(
  turns: readonly RecordedTurn[],
  clientItems: readonly Item[],
): RecordedTurn | null {
  const turn = turns.findLast(({ output }) => output.some(isMessage) || endsInvisibly(output))
  if (turn === undefined || !endsInvisibly(turn.output)) return null
  // A client that sends the search itself shows on which side of it the text is.
  const lastItem = clientItems.findLast((item) => isMessage(item) || isHostedItem(item))
  return lastItem === undefined || isMessage(lastItem) ? turn : null
}

/**
 * True if the turn continues text and has none itself. Its position is then known from its marker
 * only: text before the marker is the continued text.
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

/** True for items of hosted tools. Calls that the client executes are visible to it. */
function isHostedItem(item: Item): boolean {
  return item.type === 'opaque' && toolCallKey(item, 'call') === null
}
