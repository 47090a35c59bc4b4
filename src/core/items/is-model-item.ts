/** Whether only a model makes such an item, or the service that it runs on, or the house for it. */
import { isGatewayToolItem } from './gateway-tool-items.ts'
import type { Item } from '../item.ts'
import { callEndOf } from './tool-call-pairs.ts'

export function isModelItem(item: Item): boolean {
  switch (item.type) {
    case 'message':
      return item.role === 'assistant'
    case 'opaque':
      return callEndOf(item)?.side !== 'output' && !OF_CLIENT.has(item.raw['type'])
    case 'reasoning':
    case 'function_call':
    case 'custom_tool_call':
      return true
    case 'function_call_output':
      return isGatewayToolItem(item)
    case 'custom_tool_call_output':
      return false
  }
}

/** Items of other kinds by which a client tells what is to be done. */
const OF_CLIENT: ReadonlySet<unknown> = new Set([
  'compaction_trigger',
  'configuration_update',
  'additional_tools',
])
