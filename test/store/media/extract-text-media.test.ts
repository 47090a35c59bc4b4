import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  listMediaReferences,
  extractItemMedia,
} from '../../../src/store/media/extract-item-media.ts'
import { restoreTextMedia, extractTextMedia } from '../../../src/store/media/extract-text-media.ts'

const LARGE = 'AAAA'.repeat(1100)

test('any text is restored character by character after its media were extracted', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '"',
      '\\"',
      '"data": "',
      '"data":"',
      'backstory-media:',
      `backstory-media:${'a'.repeat(43)}`,
      '"data:image/png;base64,',
      LARGE,
      '\ud800',
    ),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const whole = pieces.join('')
      const { text, media } = extractTextMedia('tenant', whole)
      const kept = new Map(media.map((medium) => [medium.id, medium.text]))
      expect(new Set(listMediaReferences(text))).toEqual(new Set(kept.keys()))
      expect(restoreTextMedia(text, kept)).toBe(whole)
      if (kept.size > 0) expect(restoreTextMedia(text, new Map())).toBeNull()
    }),
  )
})

test('a medium has the same id in an item and in the request of every provider', () => {
  const [item] = extractItemMedia('t', { image_url: `data:image/png;base64,${LARGE}` }).media
  for (const body of [
    JSON.stringify({ url: `data:image/png;base64,${LARGE}` }),
    JSON.stringify({ source: { type: 'base64', media_type: 'image/png', data: LARGE } }),
    JSON.stringify({ inlineData: { mimeType: 'image/png', data: LARGE } }, null, 2),
  ]) {
    expect(extractTextMedia('t', body).media.map(({ id }) => id)).toEqual([item?.id])
    expect(extractTextMedia('t', body).text.length).toBeLessThan(200)
  }
})

test('extractTextMedia returns a text without media unchanged, however long its strings are', () => {
  const body = JSON.stringify({ text: 'word '.repeat(5_000), encrypted_content: LARGE })
  expect(extractTextMedia('t', body)).toEqual({ text: body, media: [] })
})
