/**
 * What an answer holds of the tools of the house: calls of tools that the gateway offers by itself, and
 * the outputs that it gave. They are items like any other to whoever keeps an answer or asks the model
 * again, and are not there for whoever reads what the model has said: no client knows such a tool.
 *
 * They are told by a mark under `native`, where no client and no upstream can put one.
 */
import type { FunctionCallOutput, Item, Part } from '../item.ts'

const MARK = 'house'

export function isGatewayToolItem({ native }: Item): boolean {
  return native?.[MARK] !== undefined
}

/** The call, marked. What its wire has said of it stays. */
export function markGatewayToolCall<Call extends Item>(call: Call): Call {
  return { ...call, native: { ...call.native, [MARK]: {} } }
}

export function createGatewayToolOutput(
  callId: string,
  output: string | readonly Part[],
): FunctionCallOutput {
  const native = { [MARK]: { size: sizeOf(output) } }
  return { type: 'function_call_output', call_id: callId, output, native }
}

/** The same as if a client had it and answered it: the very same, if it is not of the house. */
export function unmarkGatewayToolItem(item: Item): Item {
  if (!isGatewayToolItem(item)) return item
  const { native: { [MARK]: _house, ...others } = {}, ...said } = item
  return Object.keys(others).length === 0 ? said : { ...said, native: others }
}

/** Whether it is an output of which more was given once, or something else. */
export function isShortenedGatewayOutput(item: Item): boolean {
  if (item.type !== 'function_call_output') return false
  const size = item.native?.[MARK]?.['size']
  return size !== undefined && size !== sizeOf(item.output)
}

/** The very same list, if nothing of it is of the house. */
export function removeGatewayToolItems(items: readonly Item[]): readonly Item[] {
  return items.some(isGatewayToolItem) ? items.filter((item) => !isGatewayToolItem(item)) : items
}

/** Media are told in several ways, and are the same for that. */
function sizeOf(output: string | readonly Part[]): string {
  if (typeof output === 'string') return `${output.length}`
  return output.map((part) => ('text' in part ? part.text.length : part.type)).join(' ')
}
