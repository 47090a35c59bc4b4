/**
 * Decides which items are stored for a client that did not ask for it: those that it will not send back
 * by itself and that help the model later.
 */
import type { ClientTraits } from '../../core/client/client-traits.ts'
import { isCompaction } from '../../core/items/compaction-item.ts'
import { isGatewayToolItem } from '../../core/items/gateway-tool-items.ts'
import type { Item } from '../../core/item.ts'
import type { DialectName } from '../../core/prompt.ts'
import type { Settings } from '../../settings/read-settings.ts'
import type { ItemRetentionRule } from './create-recorder.ts'

export function createRetentionRule(
  client: ClientTraits,
  dialect: DialectName,
  settings: Settings,
): ItemRetentionRule {
  const keepsReasoning = settings.PERSIST_REASONING !== 'disabled'
  const keepsTools = settings.PERSIST_TOOL_RESULTS === 'on'
  // Open WebUI sends tool calls back. Other clients that get markers may lose them, so the gateway stores them.
  const forgetsCalls = client.receivesMarkers && !client.isOpenWebUi
  const forgetsFields = client.receivesMarkers || client.isOpenWebUi

  const isWorthStoring = (item: Item): boolean => {
    if (isGatewayToolItem(item)) return keepsTools
    switch (item.type) {
      case 'reasoning':
        return keepsReasoning
      case 'opaque':
        return keepsTools || isCompaction(item)
      case 'function_call':
      case 'custom_tool_call':
        return (keepsTools && forgetsCalls) || hasHiddenFields(item)
      case 'message':
        return hasHiddenFields(item) || (dialect === 'chat' && item.phase !== undefined)
      case 'function_call_output':
      case 'custom_tool_call_output':
        return false
    }
  }
  /** True if the item has fields of a wire that the client is not sent, such as signatures. */
  const hasHiddenFields = ({ native = {} }: Item): boolean =>
    Object.keys(native).some((wire) => forgetsFields || wire !== dialect)

  return {
    isWorthStoring,
    mayBeWorthStoring: ({ type }) => type === 'reasoning' && keepsReasoning,
    isStorable: ({ type }) => type !== 'reasoning' || keepsReasoning,
  }
}
