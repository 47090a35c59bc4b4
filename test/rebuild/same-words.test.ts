import { describe, expect, test } from 'vitest'
import { sameWords } from '../../src/rebuild/same-words.ts'
import { said } from '../support/recalled-stories.ts'

const one = 'for x in y:\n    print(x)'
const two = 'It is 4 de'
const three = 'grees.'

function same(given: readonly string[], recorded = [one, two, three]) {
  const found = sameWords(
    recorded.map((text) => said(text)),
    given.map((text) => said(text)),
  )
  return found === null ? null : [...found]
}

describe('what a client does to a text that it does not edit', () => {
  test('is joining, with two line breaks, one or none', () => {
    expect(same([one, two, three])).toEqual([])
    for (const joiner of ['\n\n', '\n', '', ' ', '\r\n', '\n\n\n']) {
      expect(same([[one, two, three].join(joiner)])).toEqual([])
    }
  })

  test('is trimming', () => {
    expect(same([` \n${one}`, two, `${three}\n \n`])).toEqual([])
    expect(same(['a()\nb()'], ['    a()\nb()\n'])).toEqual([])
    expect(same(['x\na()'], ['x', '    a()'])).toEqual([])
  })

  test('is other line ends, and taking out what its database does not keep', () => {
    expect(same([[one, two, three].join('\n').replaceAll('\n', '\r\n')])).toEqual([])
    expect(same(['ab'], ['a\0b'])).toEqual([])
  })

  test('is not showing a refusal', () => {
    const refused = [
      { ...said(''), content: [{ type: 'refusal', refusal: 'No.' } as const] },
      said(two),
    ]
    expect(sameWords(refused, [said(two)])).toEqual(new Set())
    expect(sameWords(refused, [said('No.'), said(two)])).toEqual(new Set())
  })
})

test('words with other blank lines, other blanks at line ends or a damaged marker are told of', () => {
  expect(same([one.replace('\n', '\n\n'), two, three])).toEqual([0])
  expect(same([one, two, 'a  \nb'], [one, two, 'a\nb'])).toEqual([2])
  const fenced = `\`\`\`\n[${'0'.repeat(20)}]: #\n\`\`\``
  expect(same([one, fenced, two, three])).toEqual([0, 1, 2])
  expect(same([`${fenced}\n\nlook`], ['look'])).toEqual([0])
})

describe('an edit is', () => {
  test.each([
    ['another indentation', [one.replace('    ', '  '), two, three]],
    ['no indentation', [one.replace('    ', ''), two, three]],
    ['an indentation where two messages meet', [`${one}\n    ${two}`, three]],
    ['a blank within a line', [one, 'It is  4 de', three]],
    ['a line that was parted', [one, 'It is\n4 de', three]],
    ['two lines that were joined', [one.replace('\n', ' '), two, three]],
    ['words more', [one, two, three, 'And?']],
    ['words less', [one, two]],
    ['words in between', [one, two, 'and', three]],
    ['another order', [two, one, three]],
  ])('%s', (_name, given) => {
    expect(same(given)).toBe(null)
  })
})
