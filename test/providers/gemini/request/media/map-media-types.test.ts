import { expect, test } from 'vitest'
import { guessMediaType } from '../../../../../src/providers/gemini/request/media/map-media-types.ts'

test.each([
  ['a.CSV', 'text/csv'],
  ['https://a.example/b.png?x=.pdf#.md', 'image/png'],
  ['archive.tar.json', 'application/json'],
  ['csv', null],
  ['mp3', null],
  ['folder.md/file', null],
  ['https://example.md', null],
  ['https://example.md/file', null],
  ['a.constructor', null],
  ['', null],
])('the media type of a file named %j is guessed from its extension only: %s', (name, expected) => {
  expect(guessMediaType(name)).toBe(expected)
})
