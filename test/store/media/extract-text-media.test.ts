import fc from 'fast-check'
import { expect, test } from 'vitest'
import { referencesIn, takenOut } from '../../../src/store/media/extract-item-media.ts'
import { putBackInto, takenOutOf } from '../../../src/store/media/extract-text-media.ts'

const LARGE = 'AAAA'.repeat(1100)

test('whatever a text holds comes back character by character', () => {
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
      const { text, media } = takenOutOf('tenant', whole)
      const kept = new Map(media.map((medium) => [medium.id, medium.text]))
      expect(new Set(referencesIn(text))).toEqual(new Set(kept.keys()))
      expect(putBackInto(text, kept)).toBe(whole)
      if (kept.size > 0) expect(putBackInto(text, new Map())).toBeNull()
    }),
  )
})

test('a medium is the same in a text as in an item, on whichever wire', () => {
  const [item] = takenOut('t', { image_url: `data:image/png;base64,${LARGE}` }).media
  for (const body of [
    JSON.stringify({ url: `data:image/png;base64,${LARGE}` }),
    JSON.stringify({ source: { type: 'base64', media_type: 'image/png', data: LARGE } }),
    JSON.stringify({ inlineData: { mimeType: 'image/png', data: LARGE } }, null, 2),
  ]) {
    expect(takenOutOf('t', body).media.map(({ id }) => id)).toEqual([item?.id])
    expect(takenOutOf('t', body).text.length).toBeLessThan(200)
  }
})

test('a text without media stays the same text, however long its strings are', () => {
  const body = JSON.stringify({ text: 'word '.repeat(5_000), encrypted_content: LARGE })
  expect(takenOutOf('t', body)).toEqual({ text: body, media: [] })
})
