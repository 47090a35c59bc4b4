/**
 * Finds the stored turn after which the client has text that the gateway did not record, so that
 * the turn's items are restored before this text. Such a turn ends with items that the client does
 * not see: reasoning, a hosted search or a gateway tool. The text is missing because the gateway
 * stopped before it recorded the text, or because the answer that continues the turn was not
 * stored.
 */
import type { Item } from '../../core/item.ts'
import { isGatewayToolItem } from '../../core/items/gateway-tool-items.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { readToolCallKey } from '../find-recorded-tool-outputs.ts'
import { onlyContinuesAnswer } from '../matching/classify-turn-input.ts'

/**
 * Returns the turn after whose items the client's unrecorded text belongs, if there is any. Returns
 * `null` if the client sees the last recorded items, or sends an item of a hosted tool after its
 * last text. `turns` and `clientItems` are those of one answer segment (consecutive model-made
 * items).
 */
export function findTurnBeforeUnrecordedText(
  turns: readonly RecordedTurn[],
  clientItems: readonly Item[],
): RecordedTurn | null {
  const turn = turns.findLast(({ output }) => output.some(isMessage) || endsInvisibly(output))
  if (turn === undefined || !endsInvisibly(turn.output)) return null
  // If the client itself sends the item of a hosted tool, e.g. a search, the order of the client's
  // items shows whether the text comes after that item.
  const lastItem = clientItems.findLast((item) => isMessage(item) || isHostedItem(item))
  return lastItem === undefined || isMessage(lastItem) ? turn : null
}

/**
 * True if the turn continues an answer, has no text, and ends with an item that the client does not
 * see. Only the turn's marker then shows where in the client's text its items belong.
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
 * that the client runs, because the client always sees those.
 */
function isHostedItem(item: Item): boolean {
  return item.type === 'opaque' && readToolCallKey(item, 'call') === null
}
