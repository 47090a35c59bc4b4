import { expect, test } from 'vitest'
import { findMediaByHandle } from '../../../src/core/media/media-handles.ts'
import type { Item } from '../../../src/core/item.ts'
import { readOutputRange } from '../../../src/context/tool-outputs/read-output-range.ts'
import { selectReadableItems } from '../../../src/gateway/tools/select-readable-items.ts'

const picture = (name: string, backstory: Item['native'] = {}): Item => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_image', image_url: `https://example.com/${name}.png` }],
  native: { ...backstory },
})
const by = (name: string) => ({ backstory: { author: { name } } })
const output: Item = { type: 'function_call_output', call_id: 'a', output: 'fog' }
const call: Item = { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' }

test('all that was said is within reach, as the very same list', () => {
  const items = [picture('a'), call, output, picture('b')]
  expect(selectReadableItems(items, { hidden: [] })).toBe(items)
})

test('what hidden authors said is not, and the names of all else stay (C70, C80)', () => {
  const items = [picture('hers', by('Ann')), picture('his', by('Ben')), picture('nobody’s')]
  const reach = selectReadableItems(items, { hidden: ['Ann'] })
  expect(findMediaByHandle(items, 'media_1', reach)).toBeNull()
  expect(findMediaByHandle(items, 'media_2', reach)).toMatchObject({
    image_url: 'https://example.com/his.png',
  })
  expect(findMediaByHandle(items, 'media_1')).not.toBeNull()
})

test('nor is what was said before a reset (C71)', () => {
  const items = [call, output, picture('new', { backstory: { reset: true } })]
  const reach = selectReadableItems(items, { hidden: [] })
  expect(readOutputRange(reach, 'a', { maxChars: 10 })).toBeNull()
  expect(readOutputRange(items, 'a', { maxChars: 10 })?.text).toBe('fog')
  expect(findMediaByHandle(items, 'media_1', reach)).not.toBeNull()
})
