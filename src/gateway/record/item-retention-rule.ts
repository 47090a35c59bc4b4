/**
 * What of an answer is worth keeping for a client that did not ask for it: what it will not send back
 * by itself, and what the model is better off with.
 */
import type { ClientTraits } from '../../core/client/client-traits.ts'
import { isCompaction } from '../../core/items/compaction-item.ts'
import { isGatewayToolItem } from '../../core/items/gateway-tool-items.ts'
import type { Item } from '../../core/item.ts'
import type { DialectName } from '../../core/prompt.ts'
import type { Settings } from '../../settings/read-settings.ts'
import type { ItemRetentionRule } from './record-turn-on-demand.ts'

export function createRetentionRule(
  client: ClientTraits,
  dialect: DialectName,
  settings: Settings,
): ItemRetentionRule {
  const keepsReasoning = settings.PERSIST_REASONING !== 'disabled'
  const keepsTools = settings.PERSIST_TOOL_RESULTS === 'on'
  // Open WebUI sends its tool calls back; of others that need markers nobody knows.
  const forgetsCalls = client.receivesMarkers && !client.isOpenWebUi
  const forgetsFields = client.receivesMarkers || client.isOpenWebUi

  const isWorth = (item: Item): boolean => {
    if (isGatewayToolItem(item)) return keepsTools
    switch (item.type) {
      case 'reasoning':
        return keepsReasoning
      case 'opaque':
        return keepsTools || isCompaction(item)
      case 'function_call':
      case 'custom_tool_call':
        return (keepsTools && forgetsCalls) || holdsSecrets(item)
      case 'message':
        return holdsSecrets(item) || (dialect === 'chat' && item.phase !== undefined)
      case 'function_call_output':
      case 'custom_tool_call_output':
        return false
    }
  }
  /** What a wire has to say of an item beyond what every client is told: signatures above all. */
  const holdsSecrets = ({ native = {} }: Item): boolean =>
    Object.keys(native).some((wire) => forgetsFields || wire !== dialect)

  return {
    isWorth,
    mayBeWorth: ({ type }) => type === 'reasoning' && keepsReasoning,
    isKept: ({ type }) => type !== 'reasoning' || keepsReasoning,
  }
}
