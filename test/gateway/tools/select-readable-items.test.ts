import { expect, test } from 'vitest'
import { findMediaByHandle } from '../../../src/core/media/media-handles.ts'
import type { Item } from '../../../src/core/item.ts'
import { readOutputRange } from '../../../src/context/tool-outputs/read-output-range.ts'
import { selectReadableItems } from '../../../src/gateway/tools/select-readable-items.ts'

const image = (name: string, backstory: Item['native'] = {}): Item => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_image', image_url: `https://example.com/${name}.png` }],
  native: { ...backstory },
})
const author = (name: string) => ({ backstory: { author: { name } } })
const output: Item = { type: 'function_call_output', call_id: 'a', output: 'fog' }
const call: Item = { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' }

test('the items that gateway tools may read are the original list if the model may read all items', () => {
  const items = [image('a'), call, output, image('b')]
  expect(selectReadableItems(items, { hidden: [] })).toBe(items)
})

test('gateway tools cannot read items of hidden authors, and media of others keep their handles (C70, C80)', () => {
  const items = [image('hers', author('Ann')), image('his', author('Ben')), image('nobody’s')]
  const readable = selectReadableItems(items, { hidden: ['Ann'] })
  expect(findMediaByHandle(items, 'media_1', readable)).toBeNull()
  expect(findMediaByHandle(items, 'media_2', readable)).toMatchObject({
    image_url: 'https://example.com/his.png',
  })
  expect(findMediaByHandle(items, 'media_1')).not.toBeNull()
})

test('gateway tools cannot read items before a reset (C71)', () => {
  const items = [call, output, image('new', { backstory: { reset: true } })]
  const readable = selectReadableItems(items, { hidden: [] })
  expect(readOutputRange(readable, 'a', { maxChars: 10 })).toBeNull()
  expect(readOutputRange(items, 'a', { maxChars: 10 })?.text).toBe('fog')
  expect(findMediaByHandle(items, 'media_1', readable)).not.toBeNull()
})
