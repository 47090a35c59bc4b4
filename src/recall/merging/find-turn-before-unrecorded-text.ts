/**
 * Finds the stored turn after which the client has text that the gateway did not record. Such a
 * turn ends with items that the client does not see: reasoning, a hosted search or a gateway tool.
 * The gateway stopped before it recorded the text, or it did not store the answer that continues
 * the turn.
 */
import type { Item } from '../../core/item.ts'
import { isGatewayToolItem } from '../../core/items/gateway-tool-items.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { readToolCallKey } from '../find-recorded-tool-outputs.ts'
import { onlyContinuesAnswer } from '../matching/classify-turn-input.ts'

/**
 * Returns the turn after which the client's last text comes, if that text is not recorded. Returns
 * `null` if the text belongs to a recorded message or comes before all recorded items. `turns` and
 * `clientItems` are those of one answer segment (consecutive model-made items).
 */
export function findTurnBeforeUnrecordedText(
  turns: readonly RecordedTurn[],
  clientItems: readonly Item[],
): RecordedTurn | null {
  const turn = turns.findLast(({ output }) => output.some(isMessage) || endsInvisibly(output))
  if (turn === undefined || !endsInvisibly(turn.output)) return null
  // If the client itself sends the item of a hosted tool, e.g. a search, the order of its items
  // shows whether the text comes after that item.
  const lastItem = clientItems.findLast((item) => isMessage(item) || isHostedItem(item))
  return lastItem === undefined || isMessage(lastItem) ? turn : null
}

/**
 * True if the turn continues an answer, has no text, and ends with an item that the client does not
 * see. Then only the turn's marker shows its position in the client's text.
 */
export function isTextlessContinuation(turn: RecordedTurn): boolean {
  const { output } = turn
  return onlyContinuesAnswer(turn) && endsInvisibly(output) && !output.some(isMessage)
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

/**
 * True for an item of a tool that the upstream runs, e.g. a web search. False for calls of tools
 * that the client runs, because the client sees them.
 */
function isHostedItem(item: Item): boolean {
  return item.type === 'opaque' && readToolCallKey(item, 'call') === null
}
