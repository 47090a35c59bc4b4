/** True for items that a model, a provider-hosted tool or a gateway tool makes, and never a client. */
import { isGatewayToolItem } from './gateway-tool-items.ts'
import type { Item } from '../item.ts'
import { callEndOf } from './tool-call-pairs.ts'

export function isModelItem(item: Item): boolean {
  switch (item.type) {
    case 'message':
      return item.role === 'assistant'
    case 'opaque':
      return callEndOf(item)?.side !== 'output' && !CLIENT_TYPES.has(item.raw['type'])
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

/** Opaque items by which a client controls the request. */
const CLIENT_TYPES: ReadonlySet<unknown> = new Set([
  'compaction_trigger',
  'configuration_update',
  'additional_tools',
])
