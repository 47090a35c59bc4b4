import { describe, expect, test } from 'vitest'
import type { Item, Part } from '../../../src/core/item.ts'
import {
  assignMediaHandles,
  listMedia,
  findMediaByHandle,
} from '../../../src/core/media/media-handles.ts'
import { talk } from '../../support/talk.ts'

const image = (image_url: string): Part => ({ type: 'input_image', image_url })
const AUDIO: Part = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }
const PDF: Part = {
  type: 'input_file',
  filename: 'a.pdf',
  file_data: 'data:application/pdf;base64,JVBE',
}
const VIDEO: Part = {
  type: 'opaque',
  raw: { type: 'video_url', video_url: { url: 'https://v/1' } },
}

const said = (...content: Part[]): Item => ({ type: 'message', role: 'user', content })
const shown = (...output: Part[]): Item => ({ type: 'function_call_output', call_id: 'a', output })

const ITEMS = [
  said(image('https://a/1'), PDF),
  ...talk`
    assistant: As you wished: ![blue](https://a/2)
    call a
  `,
  shown(image('https://a/1'), AUDIO),
  said(VIDEO, image('https://a/2')),
]

const handlesOf = (items: readonly Item[]) =>
  listMedia(items).map(({ identity }) => assignMediaHandles(items).get(identity))

describe('media handles such as `media_1` (C80)', () => {
  test('media handles number distinct media in the order of first appearance', () => {
    expect(handlesOf(ITEMS)).toEqual([1, 2, 3, 1, 4, 5, 3].map((at) => `media_${at}`))
    expect(listMedia(ITEMS).map(({ kind, itemIndex }) => `${itemIndex} ${kind}`)).toEqual([
      '0 image',
      '0 file',
      '1 image',
      '3 image',
      '3 audio',
      '4 video',
      '4 image',
    ])
  })

  test('media keep their handles in later turns of a conversation', () => {
    const later = handlesOf([...ITEMS, said(image('https://a/9'), image('https://a/1'))])
    expect(later).toEqual([...handlesOf(ITEMS), 'media_6', 'media_1'])
  })

  test('findMediaByHandle returns the medium of each assigned handle', () => {
    expect(findMediaByHandle(ITEMS, 'media_1')).toEqual(image('https://a/1'))
    expect(findMediaByHandle(ITEMS, 'media_2')).toBe(PDF)
    expect(findMediaByHandle(ITEMS, 'media_3')).toEqual(image('https://a/2'))
    expect(findMediaByHandle(ITEMS, 'media_4')).toBe(AUDIO)
    expect(findMediaByHandle(ITEMS, 'media_5')).toBe(VIDEO)
  })

  test.each(['media_6', 'media_0', 'media_01', 'media_', '1', '', 'https://a/1', 'constructor'])(
    'findMediaByHandle returns null for the handle %j, which was never assigned',
    (handle) => expect(findMediaByHandle(ITEMS, handle)).toBeNull(),
  )

  test('media handles distinguish media by their complete data', () => {
    const data = (end: string) => `data:image/png;base64,${'A'.repeat(40_000)}${end}`
    const items = [said(image(data('x')), image(data('y')), image(data('x')))]
    expect(handlesOf(items)).toEqual(['media_1', 'media_2', 'media_1'])
  })
})
