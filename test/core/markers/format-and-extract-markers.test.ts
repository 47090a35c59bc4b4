/** Markers in text that a client sends back are found despite its changes and removed without a trace. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  formatMarkerLine,
  extractMarkers,
  removeMarkerLikeText,
} from '../../../src/core/markers/format-and-extract-markers.ts'

const [A, B] = ['01KQZ3V8M6T2X9R4B7C9', '01KQZ3V8M7AAAAAAAAAA']
const [MARK, OTHER] = [formatMarkerLine(A), formatMarkerLine(B)]

test('Markdown reads a turn marker as an unused link definition and displays nothing', () => {
  expect(MARK).toBe('[01KQZ3V8M6T2X9R4B7C9]: #')
})

describe('extraction of turn markers from text', () => {
  test.each([
    ['at the start', `${MARK}\n\nServus`, 'Servus', 0],
    ['after the blank line that was added with it', `\n\n${MARK}\n\nServus`, 'Servus', 0],
    ['in the middle', `So.\n\n${MARK}\n\nServus`, 'So.\n\nServus', 5],
    ['before a message that follows another', `So.\n\n\n\n${MARK}\n\nOh`, 'So.\n\nOh', 5],
    ['between two messages that a client joined', `So.\n${MARK}\n\nServus`, 'So.\nServus', 4],
    ['at the end', `Servus\n\n${MARK}\n\n`, 'Servus', 6],
    ['at the end of a text with a final line break', `So\n\n\n${MARK}\n`, 'So\n', 3],
    ['at the end without trailing blanks', `Servus\n\n${MARK}`, 'Servus', 6],
    ['alone', MARK, '', 0],
    ['in lines that end with CR LF', `So\r\n\r\n${MARK}\r\n\r\nOh\r\n`, 'So\r\n\r\nOh\r\n', 6],
    [
      'after a blank that Markdown does not treat as one',
      `\u00a0\n\n${MARK}\n\nOh`,
      '\u00a0\n\nOh',
      3,
    ],
    ['indented with blanks', `So\n\n  ${MARK} \t\n\nOh`, 'So\n\nOh', 4],
    ['with text directly after it', `So\n\n${MARK}Oh`, 'So\n\nOh', 4],
    ['with a line directly after it', `${MARK}\nOh`, 'Oh', 0],
    ['at the end of a line of text', `So ${MARK}\nOh`, 'So\nOh', 2],
    ['after a code fence', `\`\`\`\nx\n\`\`\`\n\n${MARK}\n\nOh`, '```\nx\n```\n\nOh', 11],
    ['after a code fence in a list', `- \`\`\`\n  x\n\n${MARK}\n\nOh`, '- ```\n  x\n\nOh', 11],
    ['with Markdown escapes', `\\[${A}\\]: #\n\nOh`, 'Oh', 0],
    ['with HTML escapes', `&#91;${A}&#X5d;: &num;\n\nOh`, 'Oh', 0],
    ['with a bracket as a named HTML entity', `So\n\n&lsqb;${A}&rbrack;: &#35;`, 'So', 2],
  ])(
    'extractMarkers finds a turn marker %s and removes it with its blank line',
    (_, text, rest, at) => {
      expect(extractMarkers(text)).toEqual({ text: rest, markers: [{ turnId: A, offset: at }] })
    },
  )

  test('extractMarkers returns all turn markers in order, repeated ones included', () => {
    const text = `${MARK}\n\nSo.\n\n${OTHER}\n\n${MARK}\n\nOh.\n\n${OTHER}\n`
    expect(extractMarkers(text)).toEqual({
      text: 'So.\n\nOh.',
      markers: [
        { turnId: A, offset: 0 },
        { turnId: B, offset: 5 },
        { turnId: A, offset: 5 },
        { turnId: B, offset: 8 },
      ],
    })
    expect(extractMarkers(`${MARK}${OTHER} So ${MARK} ${OTHER}`)).toEqual({
      text: 'So',
      markers: [A, B, A, B].map((turnId, index) => ({ turnId, offset: index < 2 ? 0 : 2 })),
    })
  })

  test('extractMarkers returns no offset beyond the end of the remaining text', () => {
    const { text, markers } = extractMarkers(`So\n\n${MARK}\n\n${OTHER}\n\n${MARK}`)
    expect(text).toBe('So')
    expect(markers.map(({ offset }) => offset)).toEqual([2, 2, 2])
  })
})

describe('text that extractMarkers leaves unchanged', () => {
  test.each([
    ['in a code fence', `\`\`\`md\n${MARK}\n\`\`\``],
    ['in an unclosed code fence', `So\n\n~~~~\n~~~\n\n${MARK}\n\nOh`],
    ['in a code fence in a list', `1. So\n   \`\`\`\n\n   ${MARK}\n   \`\`\``],
    ['on the line of a code fence', `\`\`\` ${MARK}`],
    ['in indented code', `So\n\n    ${MARK}`],
    ['in code indented with a tab', `So\n\n\t${MARK}`],
    ['in a quote', `> ${MARK}\n> So ${MARK}`],
    ['in the middle of a line', `So ${MARK} Oh`],
    ['a link definition with another name', '[servus]: #\n\n[01KQZ3V8M6T2X9R4B7CU]: #'],
    ['an id in lower case', MARK.toLowerCase()],
  ])('extractMarkers leaves a text unchanged whose only marker-like text is %s', (_, text) => {
    expect(extractMarkers(text)).toEqual({ text, markers: [] })
  })
})

const SCRAPS = [
  '\n',
  '\n',
  '\n\n',
  '\r\n',
  '\r',
  ' ',
  '    ',
  '\t',
  'a',
  '- ',
  '1. ',
  '> ',
  '```',
].concat(['~~~', '`', '#', '[', ']: #', A, '\\', '&#91;'])

const soup = fc
  .array(
    fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom(MARK, OTHER, `\\[${A}\\]: #`, `&#91;${B}]: #`) },
      { weight: 5, arbitrary: fc.constantFrom(...SCRAPS) },
    ),
    { maxLength: 16 },
  )
  .map((pieces) => pieces.join(''))

test('extractMarkers finds nothing in its own result, and all its offsets are within the text', () => {
  fc.assert(
    fc.property(soup, (text) => {
      const { text: rest, markers } = extractMarkers(text)
      expect(extractMarkers(rest)).toEqual({ text: rest, markers: [] })
      if (markers.length === 0) expect(rest).toBe(text)
      let last = 0
      for (const { offset } of markers) {
        expect(offset).toBeGreaterThanOrEqual(last)
        last = offset
      }
      expect(last).toBeLessThanOrEqual(rest.length)
    }),
    { numRuns: 5000 },
  )
})

test('removeMarkerLikeText removes everything that looks like a turn marker', () => {
  const fenced = `So\n\`\`\`\n${MARK}\n\`\`\``
  expect(removeMarkerLikeText(fenced)).toBe('So\n```\n\n```')
  for (const damaged of [`[${A}]:#`, `[${A}]:`, `[${A}]`, `\\[${A}\\]: \\#`, MARK.toLowerCase()]) {
    expect(removeMarkerLikeText(`So ${damaged} Oh`)).toBe('So  Oh')
  }
  expect(removeMarkerLikeText('[servus]: #')).toBe('[servus]: #')
})

test('extractMarkers reads a long text full of markers in linear time', () => {
  for (const piece of [`${MARK}\n\n`, `${MARK} `, '[', `\n\n\n${MARK}`, `a ${MARK}\n`, ']: #\n']) {
    const marks = extractMarkers(piece.repeat(20_000)).markers.length
    expect(extractMarkers('\n'.repeat(40_000) + piece.repeat(20_000)).markers).toHaveLength(marks)
  }
})

test('of a text with more markers than any answer has, no turn is looked up, and no marker stays', () => {
  const line = `${formatMarkerLine('0123456789ABCDEFGHJK')}\n`
  expect(extractMarkers(`So.\n\n${line.repeat(9_000)}`).markers).toHaveLength(9_000)
  const { text, markers } = extractMarkers(`So.\n\n${line.repeat(20_000)}`)
  expect(markers).toEqual([])
  expect(text.trim()).toBe('So.')
})
