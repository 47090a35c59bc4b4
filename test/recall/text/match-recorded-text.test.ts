import { describe, expect, test } from 'vitest'
import { matchRecordedText } from '../../../src/recall/text/match-recorded-text.ts'
import { assistantMessage } from '../../support/recalled-stories.ts'

const one = 'for x in y:\n    print(x)'
const two = 'It is 4 de'
const three = 'grees.'

function same(given: readonly string[], recorded = [one, two, three]) {
  const found = matchRecordedText(
    recorded.map((text) => assistantMessage(text)),
    given.map((text) => assistantMessage(text)),
  )
  return found === null ? null : [...found]
}

describe('changes that a client makes without editing', () => {
  test('include joining with two line breaks, one or none', () => {
    expect(same([one, two, three])).toEqual([])
    for (const joiner of ['\n\n', '\n', '', ' ', '\r\n', '\n\n\n']) {
      expect(same([[one, two, three].join(joiner)])).toEqual([])
    }
  })

  test('include trimming', () => {
    expect(same([` \n${one}`, two, `${three}\n \n`])).toEqual([])
    expect(same(['a()\nb()'], ['    a()\nb()\n'])).toEqual([])
    expect(same(['x\na()'], ['x', '    a()'])).toEqual([])
  })

  test('include other line ends, and removing characters that its database does not store', () => {
    expect(same([[one, two, three].join('\n').replaceAll('\n', '\r\n')])).toEqual([])
    expect(same(['ab'], ['a\0b'])).toEqual([])
  })

  test('include omitting a refusal', () => {
    const refused = [
      { ...assistantMessage(''), content: [{ type: 'refusal', refusal: 'No.' } as const] },
      assistantMessage(two),
    ]
    expect(matchRecordedText(refused, [assistantMessage(two)])).toEqual(new Set())
    expect(matchRecordedText(refused, [assistantMessage('No.'), assistantMessage(two)])).toEqual(
      new Set(),
    )
  })
})

test('reports messages with other blank lines, other trailing whitespace or a damaged marker', () => {
  expect(same([one.replace('\n', '\n\n'), two, three])).toEqual([0])
  expect(same([one, two, 'a  \nb'], [one, two, 'a\nb'])).toEqual([2])
  const fenced = `\`\`\`\n[${'0'.repeat(20)}]: #\n\`\`\``
  expect(same([one, fenced, two, three])).toEqual([0, 1, 2])
  expect(same([`${fenced}\n\nlook`], ['look'])).toEqual([0])
})

describe('think blocks that a client cuts', () => {
  const text = 'Use the <think> tag, as <think>x</think> does.'
  test.each([
    ['a block in a line', text, 'Use the \ndoes.'],
    ['where the client leaves the blanks', text, 'Use the  does.'],
    ['in code', 'So:\n```\n<thinking>\nx\n</thinking>\ny\n```', 'So:\n```\n\ny\n```'],
    ['twice', 'a <thought>b</thought> c <reason x="y">d</reason> e', 'a \nc \ne'],
    ['what is not closed', 'Open it with <think> and go on.', 'Open it with'],
    ['nothing, as what is not closed is kept', 'a <think>b</think> <think> c', 'a\n<think> c'],
  ])('are recognized: %s', (_, whole, left) => {
    expect(same([left], [whole])).toEqual([0])
    expect(same([one, left, three], [one, whole, three])).toEqual([1])
    expect(same([`${left} Oh`], [whole])).toBe(null)
    expect(same([whole], [whole])).toEqual([])
  })

  test('do not include other tags or changes', () => {
    expect(same(['Use the does.'], ['Use the <thinks>x</thinks> does.'])).toBe(null)
    expect(same(['Use it, it does.'], [text])).toBe(null)
    expect(same(['Use the'], [text])).toBe(null)
  })

  test('count as edited at the start of the text, where cutting them is right', () => {
    expect(same(['So.'], ['<think>x</think>\n\nSo.'])).toBe(null)
  })
})

describe('counts as an edit:', () => {
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
