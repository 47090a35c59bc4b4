/** Tests that text which Open WebUI treats as reasoning does not count as an edit. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchTurnTexts } from '../../../src/recall/merging/match-turn-texts.ts'
import { normalizeText } from '../../../src/recall/text/normalize-text.ts'
import { matchUneditedText } from '../../../src/recall/text/match-unedited-text.ts'
import {
  startsWithThinkBlock,
  removeThinkBlocks,
} from '../../../src/recall/text/remove-think-blocks.ts'
import { textSentBack } from '../../support/open-webui/think-tags.ts'
import { assistantMessage } from '../../support/recalled-stories.ts'

const tags = ['think', 'thinking', 'reason', 'reasoning', 'thought', 'Thought']
const scraps = ['a', 'b c', '\n', '\n\n', ' ', '```\n', '<', '>', '</div>'].concat(
  tags.flatMap((tag) => [`<${tag}>`, `</${tag}>`]),
  ['<|begin_of_thought|>', '<|end_of_thought|>', '◁think▷', '◁/think▷'],
)
const spoken = fc
  .array(fc.constantFrom(...scraps), { maxLength: 14 })
  .map((pieces) => `So ${pieces.join('')}`)

test('a text counts as unedited after Open WebUI removed its think blocks', () => {
  fc.assert(
    fc.property(spoken, (text) => {
      expect(
        matchUneditedText([assistantMessage(text)], [assistantMessage(textSentBack(text))]),
      ).not.toBe(null)
      expect(
        matchUneditedText(
          [assistantMessage('Oh'), assistantMessage(text)],
          [assistantMessage('Oh'), assistantMessage(textSentBack(text))],
        ),
      ).not.toBe(null)
      expect(
        matchUneditedText([assistantMessage(text)], [assistantMessage(`${textSentBack(text)} Oh`)]),
      ).toBe(null)
    }),
    { numRuns: 5000 },
  )
})

test('a text with a think block and the same text without the block have the same normalized form', () => {
  fc.assert(
    fc.property(spoken, (text) => {
      expect(normalizeText(textSentBack(text))).toBe(normalizeText(text))
      expect(removeThinkBlocks(removeThinkBlocks(text))).toBe(removeThinkBlocks(text))
      expect(startsWithThinkBlock(text)).toBe(false)
    }),
    { numRuns: 5000 },
  )
})

test('removeThinkBlocks changes neither a text without think blocks nor a text that would become empty', () => {
  for (const text of ['', 'So', '<b>think</b>', '<think>', ' <think>So</think> ']) {
    expect(removeThinkBlocks(text)).toBe(text)
  }
})

test('a think block that the client removed is restored even if the user edited other text of the answer', () => {
  const first = assistantMessage('See <think>x</think>\nand y.')
  const second = assistantMessage('It is 4 degrees.')
  const turn = { id: '', thread: '', parent: null, depth: 0, fingerprint: null, input: [] }
  const dates = { reasoningRefusedBy: null, createdAtMs: 0, usedAtMs: 0 }
  const match = matchTurnTexts(
    [first, second].map((message) => ({ ...turn, ...dates, output: [message] })),
    [assistantMessage('See \nand y.'), assistantMessage('It is 5 degrees.')],
  )
  expect(match.replacements).toEqual([first, null])
  expect([...match.reformattedMessages]).toEqual([0])
  expect(match.unmatchedText.map(({ message }) => message)).toEqual([
    assistantMessage('It is 5 degrees.'),
  ])
})

test('removing think blocks from a long text takes linear time, and tags without a partner stay', () => {
  // A quadratic implementation would exceed the test's timeout.
  for (const piece of ['<think>', '<think ', '</think>', '<thought>◁think▷']) {
    const text = piece.repeat(200_000)
    expect(removeThinkBlocks(text)).toBe(text)
  }
  expect(removeThinkBlocks(`So ${'<think>a</think>'.repeat(200_000)}`)).toBe('So ')
})
