/** Where a line of our own may stand in a Markdown text. `gateway/marking-rendered.test.ts` says why there. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { trackMarkdownInsertionPoints } from '../../../../src/gateway/respond/markers/track-markdown-insertion-points.ts'
import { cutUp, markdown } from '../../../support/markdown-answers.ts'

function placesIn(pieces: readonly string[]): readonly number[] {
  const place = trackMarkdownInsertionPoints()
  const found: number[] = []
  let length = 0
  for (const piece of pieces) {
    const at = place.push(piece)
    if (at !== -1) found.push(length + at)
    length += piece.length
  }
  return found
}

test('a place is behind a blank line, at the top level, in front of a paragraph', () => {
  const text =
    'One\n\nTwo\n- a\n\n  b\n\nThree\n\n```\n\nFour\n```\n\nFive\n\n\nSix\r\n\r\nSeven\n \nEight'
  const places = placesIn(text.split(''))
  const words = places.map((at) => /^\w+/.exec(text.slice(at))?.[0])
  expect(words).toEqual(['Two', 'Three', 'Five', 'Seven'])
})

test('however the text is cut, the places and the end are the same', () => {
  const ways = markdown.chain((text) => fc.tuple(fc.constant(text), cutUp(text)))
  fc.assert(
    fc.property(ways, ([text, pieces]) => {
      const all = placesIn(text.split(''))
      // A piece tells only its first place.
      const first = new Set(all)
      for (const place of placesIn(pieces)) expect(first).toContain(place)
      const [whole, cut] = [trackMarkdownInsertionPoints(), trackMarkdownInsertionPoints()]
      expect(whole.push(text)).toBe(all[0] ?? -1)
      for (const piece of pieces) cut.push(piece)
      expect(cut.canEnd()).toBe(whole.canEnd())
    }),
    { numRuns: 500 },
  )
})

test('nothing can be put into a text of which readers think differently', () => {
  for (const text of [
    '<div>\n```\n</div>\n\n',
    '- ```\nx\n\n',
    'a\rb\n\n',
    '> ```\nx\n\n',
    '```\nx\n```~\n\n',
  ]) {
    expect(placesIn([text, 'Servus'])).toEqual([])
  }
})

test('a long text is read to its end', () => {
  // Who reads it over and over is not done when the time of a test is over.
  for (const piece of ['a', '`', '> ', '\n\n', '- ', '<a', '<!--', '$$', '\\', '    ', '1. ']) {
    const place = trackMarkdownInsertionPoints()
    for (let count = 0; count < 100_000; count += 1) place.push(piece)
    place.push('\n\nServus')
    expect(place.canEnd()).toBeTypeOf('boolean')
  }
})
