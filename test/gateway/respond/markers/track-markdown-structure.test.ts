/** The structure of a Markdown text. `gateway/marking-rendered.test.ts` checks it with Markdown parsers. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { trackMarkdownStructure } from '../../../../src/gateway/respond/markers/track-markdown-structure.ts'
import { cutIntoPieces, markdown } from '../../../support/markdown-answers.ts'

function readPieces(pieces: readonly string[]) {
  const structure = trackMarkdownStructure()
  for (const piece of pieces) structure.read(piece)
  return structure
}

test('whether a line can be appended to a Markdown text does not depend on how the text is cut into pieces', () => {
  const cutTexts = markdown.chain((text) => fc.tuple(fc.constant(text), cutIntoPieces(text)))
  fc.assert(
    fc.property(cutTexts, ([text, pieces]) => {
      expect(readPieces(pieces).canAppend()).toBe(readPieces([text]).canAppend())
    }),
    { numRuns: 500 },
  )
})

test.each<readonly [string, boolean]>([
  ['One\n\nTwo', true],
  ['```\ncode\n```', true],
  ['```\ncode', false],
  ['- a', false],
  ['| a | b |\n|---|---|', false],
  ['<div>\n```\n</div>\n\nx', false],
  ['a\rb\n\nx', false],
  ['```\nx\n```~\n\nx', false],
  ['', false],
])('a line can be appended to %j: %s', (text, isPossible) => {
  expect(readPieces([text]).canAppend()).toBe(isPossible)
})

test('a line can precede a message, unless the message continues a list or code of the text before', () => {
  const after = (text: string, next: string) => {
    const structure = readPieces([text])
    structure.startNextText()
    return structure.canStartWith(next)
  }
  expect(after('One.', 'Two.')).toBe(true)
  expect(after('One.', '2) two')).toBe(false)
  expect(after('- one', '    two')).toBe(false)
  expect(after('```\none', 'Two.')).toBe(false)
})

test('the structure of a long Markdown text is found in linear time', () => {
  // A quadratic search would exceed the time limit of the test.
  for (const piece of ['a', '`', '> ', '\n\n', '- ', '<a', '<!--', '$$', '\\', '    ', '1. ']) {
    const structure = readPieces(Array.from({ length: 100_000 }, () => piece))
    expect(structure.canAppend()).toBeTypeOf('boolean')
  }
})
