/** Detects items of an answer: those that a model, a provider-hosted tool or a gateway tool made, not the client. */
import { isGatewayToolItem } from './gateway-tool-items.ts'
import type { Item } from '../item.ts'
import { readToolCallIdentity } from './tool-call-pairs.ts'

export function isItemOfAnswer(item: Item): boolean {
  switch (item.type) {
    case 'message':
      return item.role === 'assistant'
    case 'opaque':
      return readToolCallIdentity(item)?.side !== 'output' && !CLIENT_TYPES.has(item.raw['type'])
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

/** Types of items by which a client controls the request; all other unknown types are made by models. */
const CLIENT_TYPES: ReadonlySet<unknown> = new Set([
  'compaction_trigger',
  'configuration_update',
  'additional_tools',
])
