import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  restoreMedia,
  listMediaReferences,
  extractItemMedia,
} from '../../../src/store/media/extract-item-media.ts'

const LARGE = 'AAAA'.repeat(1100)

function restored(body: object): string {
  const { text, media } = extractItemMedia('tenant', body)
  const kept = new Map(media.map((medium) => [medium.id, medium.text]))
  expect(new Set(listMediaReferences(text))).toEqual(new Set(kept.keys()))
  return restoreMedia(text, kept)
}

test('any item is restored byte for byte after its media were extracted', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      'backstory-media:',
      `backstory-media:${'a'.repeat(43)}`,
      'data:image/png;base64,',
      ';base64,',
      LARGE,
      '\ud800',
      '"\\',
    ),
  )
  const text = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(''))
  const forged = `backstory-media:${'b'.repeat(30)}`
  const field = fc.constantFrom('data', 'result', 'text', 'image_url', '__proto__', forged)
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.constantFrom(null, true, 0, -1.5),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.array(fc.tuple(field, tie('tree')), { maxLength: 3 }).map(Object.fromEntries),
    ),
  }))
  fc.assert(
    fc.property(tree, (value: unknown) => {
      const body = { type: 'opaque', raw: value }
      expect(JSON.stringify(JSON.parse(restored(body)))).toBe(JSON.stringify(body))
    }),
  )
})

test('extractItemMedia returns the unchanged JSON of an item without media', () => {
  const body = { type: 'message', content: [{ type: 'input_text', text: 'x'.repeat(100) }] }
  expect(extractItemMedia('tenant', body)).toEqual({ text: JSON.stringify(body), media: [] })
  const long = { type: 'message', content: [{ type: 'input_text', text: LARGE }] }
  expect(extractItemMedia('tenant', long).media).toEqual([])
})

test('equal media of two tenants have different ids', () => {
  const body = { image_url: `data:image/png;base64,${LARGE}` }
  const [one, other] = ['a', 'b'].map((tenant) => extractItemMedia(tenant, body).media[0]?.id)
  expect(one).not.toBe(other)
})

test('restoreMedia replaces the reference to a missing medium by an empty string, and restores other media', () => {
  const [gone, left] = [`data:image/png;base64,${LARGE}`, `data:image/png;base64,${LARGE}B`]
  const { text, media } = extractItemMedia('tenant', { content: [gone, left] })
  const kept = new Map(media.slice(1).map((medium) => [medium.id, medium.text]))
  expect(JSON.parse(restoreMedia(text, kept))).toEqual({
    content: ['data:image/png;base64,', left],
  })
})
