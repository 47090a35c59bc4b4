import { expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import {
  decodeItems,
  groupItemRows,
  type DecryptedItemRow,
} from '../../../src/store/turns/decode-turn-rows.ts'
import { NO_ENCRYPTION, decryptRows } from '../../../src/store/encryption/decrypt-rows.ts'
import { assistant, serializeItems, ORIGIN, user } from '../turns.ts'

const row = (side: 'in' | 'out', position: number, item: Item): DecryptedItemRow => ({
  turn_id: 'T',
  side,
  position,
  text: JSON.stringify(item),
})

test('decodeItems sorts items by position, in whatever order a database returns them (C23)', () => {
  const output = Array.from({ length: 12 }, (_, at) => assistant(`${at}`))
  const rows = output.map((item, at) => row('out', at, item))
  const input = [row('in', 1, user('b')), row('in', 0, user('a'))]
  const yielded = [...rows.slice(5), ...input, ...rows.slice(0, 5).toReversed()]
  const sides = groupItemRows(yielded).get('T')
  decryptRows(NO_ENCRYPTION, { tenant: 'tenant', user: '' }, (read) => {
    expect(serializeItems(decodeItems(sides?.out ?? [], ORIGIN, read))).toEqual(
      serializeItems(output),
    )
    expect(decodeItems(sides?.in ?? [], null, read)).toEqual([user('a'), user('b')])
  })
})

test('decodeItems leaves out an unreadable item and returns the others (C18)', () => {
  const broken = { ...row('out', 1, assistant('b')), text: '{"type":' }
  const rows = [row('out', 0, assistant('a')), broken, row('out', 2, assistant('c'))]
  const output = decryptRows(NO_ENCRYPTION, { tenant: 'tenant', user: '' }, (read) =>
    decodeItems(rows, ORIGIN, read),
  )
  expect(serializeItems(output)).toEqual(serializeItems([assistant('a'), assistant('c')]))
})
