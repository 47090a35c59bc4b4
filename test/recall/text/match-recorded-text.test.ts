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

describe('changes that a client program makes to text by itself', () => {
  test('joining messages with two line breaks, one or none is not an edit', () => {
    expect(same([one, two, three])).toEqual([])
    for (const joiner of ['\n\n', '\n', '', ' ', '\r\n', '\n\n\n']) {
      expect(same([[one, two, three].join(joiner)])).toEqual([])
    }
  })

  test('trimming a message is not an edit', () => {
    expect(same([` \n${one}`, two, `${three}\n \n`])).toEqual([])
    expect(same(['a()\nb()'], ['    a()\nb()\n'])).toEqual([])
    expect(same(['x\na()'], ['x', '    a()'])).toEqual([])
  })

  test('other line ends, or removed characters that a database cannot store, are not an edit', () => {
    expect(same([[one, two, three].join('\n').replaceAll('\n', '\r\n')])).toEqual([])
    expect(same(['ab'], ['a\0b'])).toEqual([])
  })

  test('omitting a refusal is not an edit', () => {
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

describe('think blocks that a client removes from a text', () => {
  const text = 'Use the <think> tag, as <think>x</think> does.'
  test.each([
    ['a block within a line', text, 'Use the \ndoes.'],
    ['the client keeps the spaces around the block', text, 'Use the  does.'],
    [
      'a block in a code fence',
      'So:\n```\n<thinking>\nx\n</thinking>\ny\n```',
      'So:\n```\n\ny\n```',
    ],
    [
      'two blocks with other tags',
      'a <thought>b</thought> c <reason x="y">d</reason> e',
      'a \nc \ne',
    ],
    ['a block without an end tag', 'Open it with <think> and go on.', 'Open it with'],
    ['the client keeps a block without an end tag', 'a <think>b</think> <think> c', 'a\n<think> c'],
  ])('removing think blocks is not an edit: %s', (_, whole, left) => {
    expect(same([left], [whole])).toEqual([0])
    expect(same([one, left, three], [one, whole, three])).toEqual([1])
    expect(same([`${left} Oh`], [whole])).toBe(null)
    expect(same([whole], [whole])).toEqual([])
  })

  test('removing other tags or other text is an edit', () => {
    expect(same(['Use the does.'], ['Use the <thinks>x</thinks> does.'])).toBe(null)
    expect(same(['Use it, it does.'], [text])).toBe(null)
    expect(same(['Use the'], [text])).toBe(null)
  })

  test('removing a think block at the start of the text counts as an edit, because that is real reasoning', () => {
    expect(same(['So.'], ['<think>x</think>\n\nSo.'])).toBe(null)
  })
})

describe('changes of a text that count as edits by the user', () => {
  test.each([
    ['another indentation of a line', [one.replace('    ', '  '), two, three]],
    ['the indentation of a line is removed', [one.replace('    ', ''), two, three]],
    ['indentation between two messages is added', [`${one}\n    ${two}`, three]],
    ['a second space within a line', [one, 'It is  4 de', three]],
    ['a line break within a line', [one, 'It is\n4 de', three]],
    ['two lines are joined', [one.replace('\n', ' '), two, three]],
    ['text is added at the end', [one, two, three, 'And?']],
    ['the last message is removed', [one, two]],
    ['text is added between two messages', [one, two, 'and', three]],
    ['the order of two messages changes', [two, one, three]],
  ])('this change counts as an edit: %s', (_name, given) => {
    expect(same(given)).toBe(null)
  })
})
