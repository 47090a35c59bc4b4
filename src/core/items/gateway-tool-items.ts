/**
 * Marks calls and outputs of gateway tools. The gateway stores them and sends them to the model like
 * any other item, but hides them from clients, which do not know these tools.
 *
 * The mark is a key under `native` that no client and no upstream can set.
 */
import type { FunctionCallOutput, Item, Part } from '../item.ts'

/** `house` is the stored word for gateway tools, also in codes such as `house-tool-offered`; another word would not match stored items. */
const MARK = 'house'

export function isGatewayToolItem({ native }: Item): boolean {
  return native?.[MARK] !== undefined
}

/** Returns the call with the mark; wire-specific data stays. */
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

/** Returns the item without the mark, as if the client had run the tool; other items are returned unchanged. */
export function unmarkGatewayToolItem(item: Item): Item {
  if (!isGatewayToolItem(item)) return item
  const { native: { [MARK]: _mark, ...others } = {}, ...rest } = item
  return Object.keys(others).length === 0 ? rest : { ...rest, native: others }
}

/** True if a transform shortened or replaced the output of a gateway tool. */
export function isShortenedGatewayOutput(item: Item): boolean {
  if (item.type !== 'function_call_output') return false
  const size = item.native?.[MARK]?.['size']
  return size !== undefined && size !== sizeOf(item.output)
}

/** Returns the same list if no item is marked. */
export function removeGatewayToolItems(items: readonly Item[]): readonly Item[] {
  return items.some(isGatewayToolItem) ? items.filter((item) => !isGatewayToolItem(item)) : items
}

/** Media count by type only, because their encoding differs between requests. */
function sizeOf(output: string | readonly Part[]): string {
  if (typeof output === 'string') return `${output.length}`
  return output.map((part) => ('text' in part ? part.text.length : part.type)).join(' ')
}
