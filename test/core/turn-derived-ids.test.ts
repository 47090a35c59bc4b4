import fc from 'fast-check'
import { expect, test } from 'vitest'
import { itemId, parseItemId, turnIdFromUlid } from '../../src/core/turn-derived-ids.ts'

const TYPES = ['message', 'reasoning', 'function_call_output', 'web_search_call', 'of_the_future']
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'.split('')
const anyTurnId = fc
  .array(fc.constantFrom(...CROCKFORD), { minLength: 26, maxLength: 26 })
  .map((letters) => turnIdFromUlid(letters.join('')))
const anyPlace = fc.record({
  turnId: anyTurnId,
  side: fc.constantFrom('in' as const, 'out' as const),
  index: fc.oneof(fc.nat(60), fc.nat(50_000)),
})

test('an item id derived from a turn id contains the position of its item', () => {
  fc.assert(
    fc.property(anyPlace, fc.constantFrom(...TYPES), (place, type) => {
      const id = itemId(type, place.turnId, place.index, place.side)
      expect(parseItemId(id)).toEqual(place)
      expect(id.length).toBeLessThanOrEqual(64)
      expect(id).toMatch(/^[a-zA-Z0-9_]+$/)
    }),
  )
})

test('derived item ids of two positions differ for any item types', () => {
  fc.assert(
    fc.property(anyPlace, anyPlace, fc.constantFrom(...TYPES), (one, other, type) => {
      const idOf = ({ turnId, index, side }: typeof one) => itemId(type, turnId, index, side)
      expect(idOf(one) === idOf(other)).toBe(JSON.stringify(one) === JSON.stringify(other))
      expect(idOf({ ...one, side: 'in' })).not.toBe(idOf({ ...one, side: 'out' }))
    }),
  )
})

test.each([
  '',
  'msg_1',
  'msg_01JZZZZZZZZZZZZZZZZZ',
  'msg_01JZZZZZZZZZZZZZZZZZ00',
  'msg_01JZZZZZZZZZZZZZZZZZI',
  'msg_01JZZZZZZZZZZZZZZZZZ1_',
  'msg_01JZZZZZZZZZZZZZZZZZi1_',
  'resp_01JZZZZZZZZZZZZZZZZZ',
  'msg_01jzzzzzzzzzzzzzzzzz1',
])('parseItemId returns null for %j, which is not a derived item id', (id) => {
  expect(parseItemId(id)).toBeNull()
})
