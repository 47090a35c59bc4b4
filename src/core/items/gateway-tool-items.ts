/**
 * Marks calls and outputs of gateway tools, i.e. tools that the gateway runs itself. They are stored and
 * sent to the model like other items, but hidden from clients, which do not know these tools.
 *
 * The mark is the key `native.house`, which no client and no upstream can set.
 */
import type { FunctionCallOutput, Item, Part } from '../item.ts'

/**
 * The name for gateway tools in stored items, and in codes such as `house-tool-offered`. It must not
 * change, because the marks of items that are already stored would no longer be found.
 */
const MARK = 'house'

export function isGatewayToolItem({ native }: Item): boolean {
  return native?.[MARK] !== undefined
}

/** Returns a copy of the call with the mark of a gateway tool. */
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

/** Returns a gateway tool item without its mark, as if the client had run the tool. Returns any other item unchanged. */
export function unmarkGatewayToolItem(item: Item): Item {
  if (!isGatewayToolItem(item)) return item
  const { native: { [MARK]: _mark, ...others } = {}, ...rest } = item
  return Object.keys(others).length === 0 ? rest : { ...rest, native: others }
}

/** True if the item is an output of a gateway tool that a transform has shortened or replaced. */
export function isShortenedGatewayToolOutput(item: Item): boolean {
  if (item.type !== 'function_call_output') return false
  const size = item.native?.[MARK]?.['size']
  return size !== undefined && size !== sizeOf(item.output)
}

/** Returns the list without calls and outputs of gateway tools; the same list if it has none. */
export function removeGatewayToolItems(items: readonly Item[]): readonly Item[] {
  return items.some(isGatewayToolItem) ? items.filter((item) => !isGatewayToolItem(item)) : items
}

/**
 * Returns a text that changes if the output is shortened. Media are named by type, because their
 * encoding differs between requests.
 */
function sizeOf(output: string | readonly Part[]): string {
  if (typeof output === 'string') return `${output.length}`
  return output.map((part) => ('text' in part ? part.text.length : part.type)).join(' ')
}
