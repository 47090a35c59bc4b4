/**
 * Finds the turn before text that the client has and the gateway did not record. Such text can follow
 * a turn that ends with items which the client does not see (reasoning, a hosted search or a gateway
 * tool): the gateway stopped before it recorded the text, or did not store the continuing answer.
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
export function findTurnBeforeUnrecordedText(
  turns: readonly RecordedTurn[],
  clientItems: readonly Item[],
): RecordedTurn | null {
  const turn = turns.findLast(({ output }) => output.some(isMessage) || endsInvisibly(output))
  if (turn === undefined || !endsInvisibly(turn.output)) return null
  // If the client sends the hosted item itself, its list shows whether the text comes after it.
  const lastItem = clientItems.findLast((item) => isMessage(item) || isHostedItem(item))
  return lastItem === undefined || isMessage(lastItem) ? turn : null
}

/**
 * True for a silent turn: it continues an answer, has no text, and ends with an item that the client
 * does not see. Only its marker shows its position in the text: the text before it is continued.
 */
export function isSilentTurn(turn: RecordedTurn): boolean {
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
