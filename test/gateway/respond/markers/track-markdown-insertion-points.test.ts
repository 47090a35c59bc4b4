/** Insertion points in a Markdown text. `gateway/marking-rendered.test.ts` checks them with Markdown parsers. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { trackMarkdownInsertionPoints } from '../../../../src/gateway/respond/markers/track-markdown-insertion-points.ts'
import { cutIntoPieces, markdown } from '../../../support/markdown-answers.ts'

function findPositions(pieces: readonly string[]): readonly number[] {
  const points = trackMarkdownInsertionPoints()
  const found: number[] = []
  let length = 0
  for (const piece of pieces) {
    const position = points.findPosition(piece)
    if (position !== -1) found.push(length + position)
    length += piece.length
  }
  return found
}

test('Markdown has insertion points after a blank line, at the top level, before a paragraph', () => {
  const text =
    'One\n\nTwo\n- a\n\n  b\n\nThree\n\n```\n\nFour\n```\n\nFive\n\n\nSix\r\n\r\nSeven\n \nEight'
  const positions = findPositions(text.split(''))
  const nextWords = positions.map((position) => /^\w+/.exec(text.slice(position))?.[0])
  expect(nextWords).toEqual(['Two', 'Three', 'Five', 'Seven'])
})

test('the insertion points of a Markdown text, and whether a line can be appended, do not depend on how it is cut into pieces', () => {
  const cutTexts = markdown.chain((text) => fc.tuple(fc.constant(text), cutIntoPieces(text)))
  fc.assert(
    fc.property(cutTexts, ([text, pieces]) => {
      const all = findPositions(text.split(''))
      // Of each piece, only the first position is returned.
      const first = new Set(all)
      for (const position of findPositions(pieces)) expect(first).toContain(position)
      const [complete, inPieces] = [trackMarkdownInsertionPoints(), trackMarkdownInsertionPoints()]
      expect(complete.findPosition(text)).toBe(all[0] ?? -1)
      for (const piece of pieces) inPieces.findPosition(piece)
      expect(inPieces.canAppend()).toBe(complete.canAppend())
    }),
    { numRuns: 500 },
  )
})

test('a Markdown text has no insertion point where parsers render it differently', () => {
  for (const text of [
    '<div>\n```\n</div>\n\n',
    '- ```\nx\n\n',
    'a\rb\n\n',
    '> ```\nx\n\n',
    '```\nx\n```~\n\n',
  ]) {
    expect(findPositions([text, 'Servus'])).toEqual([])
  }
})

test('the insertion points of a long Markdown text are found in linear time', () => {
  // A quadratic search would exceed the time limit of the test.
  for (const piece of ['a', '`', '> ', '\n\n', '- ', '<a', '<!--', '$$', '\\', '    ', '1. ']) {
    const points = trackMarkdownInsertionPoints()
    for (let count = 0; count < 100_000; count += 1) points.findPosition(piece)
    points.findPosition('\n\nServus')
    expect(points.canAppend()).toBeTypeOf('boolean')
  }
})
