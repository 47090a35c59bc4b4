/** What of a request is kept with its turn: what it asked for, by what it is listed, and its items. */
import type { Item } from '../conversation/item.ts'
import type { JsonObject } from '../conversation/json.ts'
import type { Inbound } from '../dialect/dialect.ts'
import { writtenWishes } from '../dialect/wishes.ts'
import type { NewTurn } from '../store/store.ts'

export function keptOf({
  dialect,
  items,
  body,
  memory,
  wishes,
}: Inbound): Pick<NewTurn, 'request' | 'input' | 'metadata'> {
  const { input: _input, messages: _messages, ...said } = body
  const request = wishes === null ? said : { ...said, backstory: writtenWishes(wishes) }
  if (dialect === 'responses') return { request, input: withoutInstructions(items, request) }
  const { metadata: _metadata, ...rest } = request
  return { request: rest, input: items, metadata: memory.metadata }
}

/** Instructions hold for one request, in whatever form they come. */
function withoutInstructions(
  items: readonly Item[],
  { instructions }: JsonObject,
): readonly Item[] {
  return Array.isArray(instructions) ? items.slice(instructions.length) : items
}
