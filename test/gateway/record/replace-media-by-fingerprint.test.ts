import { expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { replaceMediaByFingerprint } from '../../../src/gateway/record/replace-media-by-fingerprint.ts'
import { user } from '../../store/turns.ts'

const imageMessage = (data: string): Item => ({
  type: 'message',
  role: 'user',
  content: [
    { type: 'input_text', text: 'What is this?' },
    { type: 'input_image', image_url: `data:image/png;base64,${data}` },
  ],
})

test('replaceMediaByFingerprint leaves texts and tool outputs unchanged', () => {
  const output: Item = { type: 'function_call_output', call_id: 'c', output: 'x'.repeat(5000) }
  const items = [user('hello'), output]
  expect(replaceMediaByFingerprint(items)).toEqual(items)
})

test('replaceMediaByFingerprint replaces an image by a short text, which is the same only for the same image', () => {
  const [one] = replaceMediaByFingerprint([imageMessage('A'.repeat(9000))])
  const [same] = replaceMediaByFingerprint([imageMessage('A'.repeat(9000))])
  const [other] = replaceMediaByFingerprint([imageMessage('B'.repeat(9000))])
  expect(JSON.stringify(one).length).toBeLessThan(600)
  expect(same).toEqual(one)
  expect(other).not.toEqual(one)
})
