import { describe, expect, test } from 'vitest'
import { matchUneditedText } from '../../../src/recall/text/match-unedited-text.ts'
import { assistantMessage } from '../../support/recalled-stories.ts'

const one = 'for x in y:\n    print(x)'
const two = 'It is 4 de'
const three = 'grees.'

function same(given: readonly string[], recorded = [one, two, three]) {
  const found = matchUneditedText(
    recorded.map((text) => assistantMessage(text)),
    given.map((text) => assistantMessage(text)),
  )
  return found === null ? null : [...found]
}

describe('changes that a client program makes to text by itself', () => {
  test('a text counts as unedited if the client joined its messages with two line breaks, one or none', () => {
    expect(same([one, two, three])).toEqual([])
    for (const joiner of ['\n\n', '\n', '', ' ', '\r\n', '\n\n\n']) {
      expect(same([[one, two, three].join(joiner)])).toEqual([])
    }
  })

  test('a text counts as unedited if the client trimmed a message', () => {
    expect(same([` \n${one}`, two, `${three}\n \n`])).toEqual([])
    expect(same(['a()\nb()'], ['    a()\nb()\n'])).toEqual([])
    expect(same(['x\na()'], ['x', '    a()'])).toEqual([])
  })

  test('a text counts as unedited if the client changed line ends or removed NUL characters', () => {
    expect(same([[one, two, three].join('\n').replaceAll('\n', '\r\n')])).toEqual([])
    expect(same(['ab'], ['a\0b'])).toEqual([])
  })

  test('a text counts as unedited if the client omitted a refusal', () => {
    const refused = [
      { ...assistantMessage(''), content: [{ type: 'refusal', refusal: 'No.' } as const] },
      assistantMessage(two),
    ]
    expect(matchUneditedText(refused, [assistantMessage(two)])).toEqual(new Set())
    expect(matchUneditedText(refused, [assistantMessage('No.'), assistantMessage(two)])).toEqual(
      new Set(),
    )
  })
})

test('matchUneditedText returns the recorded messages that the client has with other blank lines, other trailing whitespace or a damaged marker', () => {
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
  ])('a text counts as unedited if the client removed think blocks: %s', (_, whole, left) => {
    expect(same([left], [whole])).toEqual([0])
    expect(same([one, left, three], [one, whole, three])).toEqual([1])
    expect(same([`${left} Oh`], [whole])).toBe(null)
    expect(same([whole], [whole])).toEqual([])
  })

  test('a text counts as edited if tags that are no think tags, or other text, were removed', () => {
    expect(same(['Use the does.'], ['Use the <thinks>x</thinks> does.'])).toBe(null)
    expect(same(['Use it, it does.'], [text])).toBe(null)
    expect(same(['Use the'], [text])).toBe(null)
  })

  test('a text counts as edited if a think block at its start was removed, because such a block is real reasoning', () => {
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
  ])("an answer's text counts as edited by the user after this change: %s", (_name, given) => {
    expect(same(given)).toBe(null)
  })
})
