/** Every marker is removed before a model reads the text, and nothing else. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatMarkerLine } from '../../../src/core/markers/format-and-extract-markers.ts'
import { removeMarkers } from '../../../src/core/markers/remove-markers.ts'
import { numberOfRuns } from '../../support/number-of-runs.ts'

const [A, B] = ['01KQZ3V8M6T2X9R4B7C9', '01KQZ3V8M7AAAAAAAAAA']
const [MARK, OTHER] = [formatMarkerLine(A), formatMarkerLine(B)]
const GRAMMAR = /\[[0-9A-HJKMNP-TV-Z]{20}\]: #/

describe('removal of turn markers from text that a model is sent', () => {
  test.each([
    ['in a quote', `> So\n>\n> ${MARK}\n\nOh`, '> So\n\nOh'],
    ['in the middle of a quote', `> So\n>\n> ${MARK}\n> Oh`, '> So\n>\n> Oh'],
    ['at the start of a quote', `> ${MARK}\n>\n> So`, '> So'],
    ['at the end of a quote', `> So\n>\n> ${MARK}`, '> So'],
    ['in a sentence', `He said ${MARK} to me`, 'He said to me'],
    ['in a sentence, without blanks', `He said${MARK}to me`, 'He saidto me'],
    ['together with the code fence around it', `So\n\n\`\`\`\n${MARK}\n\`\`\`\n\nNo`, 'So\n\nNo'],
    ['in a fence with other code', `\`\`\`\nx\n${MARK}\n\`\`\``, '```\nx\n```'],
    ['between texts in one line', `user: So ${MARK}\n\nuser: Oh`, 'user: So\n\nuser: Oh'],
    ['in indented code', `So\n\n    ${MARK}`, 'So'],
    ['as code', `So \`${MARK}\``, 'So ``'],
    ['escaped in a sentence', `So \\[${A}\\]: \\# or &#91;${A}&#93;: &num; oh`, 'So or oh'],
    ['that contains another marker', `[01KQZ3V8M6${MARK}T2X9R4B7C9]: # So`, 'So'],
    ['that has another marker in its ending', `So [${A}]: ${OTHER}# oh`, 'So oh'],
  ])('removeMarkers removes a turn marker %s', (_, text, rest) => {
    expect(removeMarkers(text)).toBe(rest)
  })
})

describe('turn markers in JSON strings', () => {
  const texts = [
    [`So.\n\n${MARK}\n\nOh.`, 'So.\n\nOh.'],
    [`${MARK}\n\nSo.`, 'So.'],
    [`So.\n\n${MARK}\n\n`, 'So.'],
    [`So.\r\n\r\n${MARK}\r\n\r\nOh.`, 'So.\r\n\r\nOh.'],
    [`> So.\n>\n> ${MARK}\n\nOh.`, '> So.\n\nOh.'],
    [MARK, ''],
  ] as const
  test.each(texts)(
    'removeMarkers removes a marker with its escaped line breaks from the JSON string of %j',
    (text, rest) => {
      const [given, left] = [
        [{ title: 'A "title"', content: text }],
        [{ title: 'A "title"', content: rest }],
      ]
      expect(removeMarkers(JSON.stringify(given))).toBe(JSON.stringify(left))
      expect(removeMarkers(`Found:\n${JSON.stringify(given)}`)).toBe(
        `Found:\n${JSON.stringify(left)}`,
      )
      const twice = (value: unknown) => JSON.stringify({ found: JSON.stringify(value) })
      expect(removeMarkers(twice(given))).toBe(twice(left))
      expect(removeMarkers(JSON.stringify(given, null, 2))).toBe(JSON.stringify(left, null, 2))
    },
  )
})

test.each([
  '[servus]: #',
  '[01KQZ3V8M6T2X9R4B7CU]: #',
  MARK.toLowerCase(),
  `[${A}]`,
  `[${A}]:#`,
  `[${A}0]: #`,
  '{"a":"\\\\[x]: #\\n"}',
])('removeMarkers leaves text that does not match the marker format: %s', (text) => {
  expect(removeMarkers(text)).toBe(text)
})

const SCRAPS = [
  '\n',
  '\n\n',
  '\r\n',
  '\\n',
  '\\\\n',
  ' ',
  '\t',
  'a',
  '> ',
  '```',
  '"',
  "'",
  '\\',
  '[',
  ']',
  ']: #',
  ': #',
  '#',
  ';',
  A,
  A.slice(0, 9),
  A.slice(9),
  '&#91;',
]
const MARKS = [MARK, OTHER, `\\[${A}\\]: \\#`, `&lsqb;${B}]: #`]

const soup = fc
  .array(
    fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom(...MARKS) },
      { weight: 5, arbitrary: fc.constantFrom(...SCRAPS) },
    ),
    { maxLength: 16 },
  )
  .map((pieces) => pieces.join(''))

test('removeMarkers leaves no marker after one pass', () => {
  fc.assert(
    fc.property(soup, (text) => {
      const rest = removeMarkers(text)
      expect(rest).not.toMatch(GRAMMAR)
      expect(removeMarkers(rest)).toBe(rest)
    }),
    numberOfRuns(20_000),
  )
})

test('removeMarkers returns a text without markers unchanged, and removes only markers and blanks from other texts', () => {
  const unmarked = fc
    .array(fc.constantFrom(...SCRAPS, '\\\\', 'N'), { maxLength: 16 })
    .map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(unmarked, (text) => {
      if (!GRAMMAR.test(text)) expect(removeMarkers(text)).toBe(text)
    }),
    numberOfRuns(5000),
  )
  const words = fc.array(fc.constantFrom('So', 'Oh', '\n\n', ' ', '> ', ...MARKS, '"', '\\n'))
  fc.assert(
    fc.property(words, (pieces) => {
      const said = pieces.filter((piece) => piece === 'So' || piece === 'Oh').join('')
      expect(removeMarkers(pieces.join('')).replace(/[\s>"]|\\n/g, '')).toBe(said)
    }),
    numberOfRuns(5000),
  )
})

test('removeMarkers leaves JSON valid and its other content unchanged', () => {
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      soup,
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value')),
      fc.array(tie('value'), { maxLength: 3 }),
      tie('value').map((inner) => JSON.stringify(inner)),
    ),
  })).value
  fc.assert(
    fc.property(value, fc.constantFrom(0, 2), (said, indent) => {
      const rest = removeMarkers(JSON.stringify(said, null, indent))
      expect(rest).not.toMatch(GRAMMAR)
      expect(shapeOf(JSON.parse(rest))).toBe(shapeOf(said))
    }),
    numberOfRuns(5000),
  )
})

/** Removes the strings from JSON. */
function shapeOf(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'string' ? '' : inner))
}

test('removeMarkers reads a long text full of markers in linear time', () => {
  // An implementation with quadratic time exceeds the time limit of the test.
  for (const piece of [
    `${MARK}\n\n`,
    `> ${MARK} `,
    '[',
    `"${MARK}\\n`,
    `a ${MARK} b`,
    ']: #',
    ';',
  ]) {
    const text = ' '.repeat(20_000) + '\n'.repeat(20_000) + piece.repeat(10_000)
    expect(removeMarkers(text)).not.toMatch(GRAMMAR)
  }
  const halves = '[01KQZ3V8M6'.repeat(10_000) + 'T2X9R4B7C9]: #'.repeat(10_000)
  expect(removeMarkers(halves)).not.toMatch(GRAMMAR)
})

test.each(['`', '~~~ ', '#', ';', ' #', 'm;'])(
  'removeMarkers reads 2 million repetitions of %j in linear time',
  (sign) => {
    const text = `${MARK.slice(-3)} ${sign.repeat(2_000_000 / sign.length)}`
    expect(removeMarkers(text)).toBe(text)
  },
)
