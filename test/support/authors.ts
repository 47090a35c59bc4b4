/** Adds authors and other gateway fields to the items of a conversation. */
import fc from 'fast-check'
import type { Item } from '../../src/core/item.ts'
import { setGatewayFields } from '../../src/core/items/gateway-fields.ts'
import type { JsonObject } from '../../src/core/json/json.ts'

/** Sets the gateway field of some items, by index. */
export function withGatewayFields(
  items: readonly Item[],
  fields: Readonly<Record<number, JsonObject>>,
): readonly Item[] {
  return items.map((item, at) => {
    const field = fields[at]
    return field === undefined ? item : setGatewayFields(item, field)
  })
}

export function authorField(name: string, more: JsonObject = {}): JsonObject {
  return { author: { name }, ...more }
}

export const ANN: JsonObject = { author: { id: 'u1', name: 'Ann' } }
const BOB: JsonObject = { author: { id: 'u2', name: 'Bob [the bot]: really' } }
const ADA: JsonObject = { author: { name: 'Ada' } }

/** Assigns authors by index, so that the items of a growing conversation keep their authors. */
const fields = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant(null) },
    { weight: 6, arbitrary: fc.constantFrom(ANN, BOB, ADA) },
    { weight: 1, arbitrary: fc.constant({ ...ANN, sent_at: 86_400 }) },
    { weight: 1, arbitrary: fc.constant({ pin: true }) },
  ),
  { minLength: 1, maxLength: 7 },
)

/** Adds the same sequence of authors to each list of items that it is called with. */
export const anyAuthors = fields.map(
  (dealt) =>
    (items: readonly Item[]): readonly Item[] =>
      items.map((item, at) => {
        const field = dealt[at % dealt.length] ?? null
        return field === null ? item : setGatewayFields(item, field)
      }),
)
