/** What of a request is kept with its turn: what it asked for, by what it is listed, and its items. */
import type { Item } from '../../core/item.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import { formatPolicyOverrides } from '../../dialects/context-policy/parse-and-format-overrides.ts'
import type { NewTurn } from '../../store/turns/turn-store-interface.ts'

export function selectRequestPartsToStore({
  dialect,
  items,
  body,
  storage,
  policyOverrides,
}: ClientRequest): Pick<NewTurn, 'request' | 'input' | 'metadata'> {
  const { input: _input, messages: _messages, ...said } = body
  const request =
    policyOverrides === null ? said : { ...said, backstory: formatPolicyOverrides(policyOverrides) }
  if (dialect === 'responses') return { request, input: withoutInstructions(items, request) }
  const { metadata: _metadata, ...rest } = request
  return { request: rest, input: items, metadata: storage.metadata }
}

/** Instructions hold for one request, in whatever form they come. */
function withoutInstructions(
  items: readonly Item[],
  { instructions }: JsonObject,
): readonly Item[] {
  return Array.isArray(instructions) ? items.slice(instructions.length) : items
}
