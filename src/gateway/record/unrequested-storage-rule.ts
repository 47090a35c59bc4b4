/**
 * Decides which items are stored although the client did not ask to store the turn: items that the client will not
 * send back, and that the model needs in later requests.
 */
import type { ClientTraits } from '../../core/client/client-traits.ts'
import type { Item } from '../../core/item.ts'
import { isCompaction } from '../../core/items/compaction-item.ts'
import { isGatewayToolItem } from '../../core/items/gateway-tool-items.ts'
import type { DialectName } from '../../core/prompt.ts'
import type { Settings } from '../../settings/read-settings.ts'

export function createUnrequestedStorageRule(
  client: ClientTraits,
  dialect: DialectName,
  settings: Settings,
): UnrequestedStorageRule {
  const keepsReasoning = settings.PERSIST_REASONING !== 'disabled'
  const keepsTools = settings.PERSIST_TOOL_RESULTS === 'on'
  // Clients that receive markers are assumed to drop tool calls, except for Open WebUI, which sends them back.
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
  /** True if the item has wire-specific fields that the client will not send back, e.g. signatures. */
  const hasHiddenFields = ({ native = {} }: Item): boolean =>
    Object.keys(native).some((wire) => forgetsFields || wire !== dialect)

  return {
    isWorthStoring,
    mayBecomeWorthStoring: ({ type }) => type === 'reasoning' && keepsReasoning,
    isStoringAllowed: ({ type }) => type !== 'reasoning' || keepsReasoning,
  }
}

export interface UnrequestedStorageRule {
  /** True if the model needs the item in later requests and the client will not send it back. */
  readonly isWorthStoring: (item: Item) => boolean
  /** True if an item that has just started will be worth storing by its type: reasoning. */
  readonly mayBecomeWorthStoring: (item: Item) => boolean
  /** False for items that must not be stored even with others: reasoning with `PERSIST_REASONING=disabled`. */
  readonly isStoringAllowed: (item: Item) => boolean
}
