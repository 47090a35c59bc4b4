/** Conversations of many: the items of a talk, or of a made-up conversation, with who has said them. */
import fc from 'fast-check'
import type { Item } from '../../src/core/item.ts'
import { setGatewayField } from '../../src/core/items/author-time-and-reset-fields.ts'
import type { JsonObject } from '../../src/core/json/json.ts'

/** The same with a field of its own for some of its items, by place. */
export function said(
  items: readonly Item[],
  fields: Readonly<Record<number, JsonObject>>,
): readonly Item[] {
  return items.map((item, at) => {
    const field = fields[at]
    return field === undefined ? item : setGatewayField(item, field)
  })
}

export function by(name: string, more: JsonObject = {}): JsonObject {
  return { author: { name }, ...more }
}

export const ANN: JsonObject = { author: { id: 'u1', name: 'Ann' } }
const BOB: JsonObject = { author: { id: 'u2', name: 'Bob [the bot]: really' } }
const ADA: JsonObject = { author: { name: 'Ada' } }

/** Dealt out by place, so that a conversation that goes on is still said by the same. */
const fields = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant(null) },
    { weight: 6, arbitrary: fc.constantFrom(ANN, BOB, ADA) },
    { weight: 1, arbitrary: fc.constant({ ...ANN, sent_at: 86_400 }) },
    { weight: 1, arbitrary: fc.constant({ pin: true }) },
  ),
  { minLength: 1, maxLength: 7 },
)

/** Makes any lists, one after the other, conversations of the same voices. */
export const voices = fields.map(
  (dealt) =>
    (items: readonly Item[]): readonly Item[] =>
      items.map((item, at) => {
        const field = dealt[at % dealt.length] ?? null
        return field === null ? item : setGatewayField(item, field)
      }),
)
