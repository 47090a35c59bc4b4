/** Markers in what a client sends back: found, whatever was done to them, and gone to the byte. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  formatMarkerLine,
  extractMarkers,
  removeMarkerLikeText,
} from '../../../src/core/markers/extract-turn-markers.ts'

const [A, B] = ['01KQZ3V8M6T2X9R4B7C9', '01KQZ3V8M7AAAAAAAAAA']
const [MARK, OTHER] = [formatMarkerLine(A), formatMarkerLine(B)]

test('a marker is the definition of a link that nobody uses', () => {
  expect(MARK).toBe('[01KQZ3V8M6T2X9R4B7C9]: #')
})

describe('a marker is found, and taken away with the blank line that came with it', () => {
  test.each([
    ['at the beginning', `${MARK}\n\nServus`, 'Servus', 0],
    ['behind the blank line that came with it', `\n\n${MARK}\n\nServus`, 'Servus', 0],
    ['in the middle', `So.\n\n${MARK}\n\nServus`, 'So.\n\nServus', 5],
    ['in front of a message that follows another', `So.\n\n\n\n${MARK}\n\nOh`, 'So.\n\nOh', 5],
    ['where a client has joined two messages', `So.\n${MARK}\n\nServus`, 'So.\nServus', 4],
    ['at the end', `Servus\n\n${MARK}\n\n`, 'Servus', 6],
    ['at the end of a text that ends with a break', `So\n\n\n${MARK}\n`, 'So\n', 3],
    ['where blanks at the end are gone', `Servus\n\n${MARK}`, 'Servus', 6],
    ['by itself', MARK, '', 0],
    ['in lines of another system', `So\r\n\r\n${MARK}\r\n\r\nOh\r\n`, 'So\r\n\r\nOh\r\n', 6],
    ['behind a blank that is none to Markdown', `\u00a0\n\n${MARK}\n\nOh`, '\u00a0\n\nOh', 3],
    ['set off by blanks', `So\n\n  ${MARK} \t\n\nOh`, 'So\n\nOh', 4],
    ['with text glued behind it', `So\n\n${MARK}Oh`, 'So\n\nOh', 4],
    ['with a line directly behind it', `${MARK}\nOh`, 'Oh', 0],
    ['glued to the end of a line', `So ${MARK}\nOh`, 'So\nOh', 2],
    ['behind a fence', `\`\`\`\nx\n\`\`\`\n\n${MARK}\n\nOh`, '```\nx\n```\n\nOh', 11],
    ['behind a fence in a list', `- \`\`\`\n  x\n\n${MARK}\n\nOh`, '- ```\n  x\n\nOh', 11],
    ['escaped as Markdown', `\\[${A}\\]: #\n\nOh`, 'Oh', 0],
    ['escaped as HTML', `&#91;${A}&#X5d;: &num;\n\nOh`, 'Oh', 0],
    ['with a bracket by its name', `So\n\n&lsqb;${A}&rbrack;: &#35;`, 'So', 2],
  ])('%s', (_, text, rest, at) => {
    expect(extractMarkers(text)).toEqual({ text: rest, marks: [{ turnId: A, at }] })
  })

  test('as often as it is there, in the order in which it stands', () => {
    const text = `${MARK}\n\nSo.\n\n${OTHER}\n\n${MARK}\n\nOh.\n\n${OTHER}\n`
    expect(extractMarkers(text)).toEqual({
      text: 'So.\n\nOh.',
      marks: [
        { turnId: A, at: 0 },
        { turnId: B, at: 5 },
        { turnId: A, at: 5 },
        { turnId: B, at: 8 },
      ],
    })
    expect(extractMarkers(`${MARK}${OTHER} So ${MARK} ${OTHER}`)).toEqual({
      text: 'So',
      marks: [A, B, A, B].map((turnId, at) => ({ turnId, at: at < 2 ? 0 : 2 })),
    })
  })

  test('where nothing is left, at no place beyond that', () => {
    const { text, marks } = extractMarkers(`So\n\n${MARK}\n\n${OTHER}\n\n${MARK}`)
    expect(text).toBe('So')
    expect(marks.map(({ at }) => at)).toEqual([2, 2, 2])
  })
})

describe('what is not a marker stays as it is', () => {
  test.each([
    ['a fence', `\`\`\`md\n${MARK}\n\`\`\``],
    ['a fence that is not closed', `So\n\n~~~~\n~~~\n\n${MARK}\n\nOh`],
    ['a fence in a list', `1. So\n   \`\`\`\n\n   ${MARK}\n   \`\`\``],
    ['the line of a fence', `\`\`\` ${MARK}`],
    ['code that is set off', `So\n\n    ${MARK}`],
    ['code that is set off by a tab', `So\n\n\t${MARK}`],
    ['a quote', `> ${MARK}\n> So ${MARK}`],
    ['the middle of a line', `So ${MARK} Oh`],
    ['a definition of somebody else', '[servus]: #\n\n[01KQZ3V8M6T2X9R4B7CU]: #'],
    ['small letters', MARK.toLowerCase()],
  ])('%s', (_, text) => {
    expect(extractMarkers(text)).toEqual({ text, marks: [] })
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
      {
        weight: 5,
        arbitrary: fc.constantFrom(...SCRAPS),
      },
    ),
    { maxLength: 16 },
  )
  .map((pieces) => pieces.join(''))

test('what was read once holds nothing more, and no place lies outside of it', () => {
  fc.assert(
    fc.property(soup, (text) => {
      const { text: rest, marks } = extractMarkers(text)
      expect(extractMarkers(rest)).toEqual({ text: rest, marks: [] })
      if (marks.length === 0) expect(rest).toBe(text)
      let last = 0
      for (const { at } of marks) {
        expect(at).toBeGreaterThanOrEqual(last)
        last = at
      }
      expect(last).toBeLessThanOrEqual(rest.length)
    }),
    { numRuns: 5000 },
  )
})

test('to compare words by, everything goes that looks like a marker', () => {
  const fenced = `So\n\`\`\`\n${MARK}\n\`\`\``
  expect(removeMarkerLikeText(fenced)).toBe('So\n```\n\n```')
  for (const damaged of [`[${A}]:#`, `[${A}]:`, `[${A}]`, `\\[${A}\\]: \\#`, MARK.toLowerCase()]) {
    expect(removeMarkerLikeText(`So ${damaged} Oh`)).toBe('So  Oh')
  }
  expect(removeMarkerLikeText('[servus]: #')).toBe('[servus]: #')
})

test('a long text full of markers is read to its end', () => {
  for (const piece of [`${MARK}\n\n`, `${MARK} `, '[', `\n\n\n${MARK}`, `a ${MARK}\n`, ']: #\n']) {
    const marks = extractMarkers(piece.repeat(20_000)).marks.length
    expect(extractMarkers('\n'.repeat(40_000) + piece.repeat(20_000)).marks).toHaveLength(marks)
  }
})
