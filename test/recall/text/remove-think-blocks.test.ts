/** What Open WebUI takes for thinking is taken for that here as well, and never for an edit. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { alignWords } from '../../../src/recall/text/align-edited-text.ts'
import { compactWords } from '../../../src/recall/text/normalize-text.ts'
import { sameWords } from '../../../src/recall/text/match-recorded-text.ts'
import {
  beginsWithThinking,
  withoutThinking,
} from '../../../src/recall/text/remove-think-blocks.ts'
import { keptOf } from '../../support/open-webui/think-tags.ts'
import { said } from '../../support/recalled-stories.ts'

const tags = ['think', 'thinking', 'reason', 'reasoning', 'thought', 'Thought']
const scraps = ['a', 'b c', '\n', '\n\n', ' ', '```\n', '<', '>', '</div>'].concat(
  tags.flatMap((tag) => [`<${tag}>`, `</${tag}>`]),
  ['<|begin_of_thought|>', '<|end_of_thought|>', '◁think▷', '◁/think▷'],
)
const spoken = fc
  .array(fc.constantFrom(...scraps), { maxLength: 14 })
  .map((pieces) => `So ${pieces.join('')}`)

test('what Open WebUI cuts, the recorded words have still', () => {
  fc.assert(
    fc.property(spoken, (text) => {
      expect(sameWords([said(text)], [said(keptOf(text))])).not.toBe(null)
      expect(sameWords([said('Oh'), said(text)], [said('Oh'), said(keptOf(text))])).not.toBe(null)
      expect(sameWords([said(text)], [said(`${keptOf(text)} Oh`)])).toBe(null)
    }),
    { numRuns: 5000 },
  )
})

test('the words that count are those that are left, whether it was cut or not', () => {
  fc.assert(
    fc.property(spoken, (text) => {
      expect(compactWords(keptOf(text))).toBe(compactWords(text))
      expect(withoutThinking(withoutThinking(text))).toBe(withoutThinking(text))
      expect(beginsWithThinking(text)).toBe(false)
    }),
    { numRuns: 5000 },
  )
})

test('a text without a tag is the very same, and so is one of which nothing would be left', () => {
  for (const text of ['', 'So', '<b>think</b>', '<think>', ' <think>So</think> ']) {
    expect(withoutThinking(text)).toBe(text)
  }
})

test('beside an edit, what was cut comes back', () => {
  const [first, second] = [said('See <think>x</think>\nand y.'), said('It is 4 degrees.')]
  const aligned = alignWords([first, second], [said('See \nand y.'), said('It is 5 degrees.')])
  expect(aligned.places[0]).toBe(first)
  expect(aligned.places[1]).toEqual(said('It is 5 degrees.'))
  expect([...aligned.restored]).toEqual([0])
})

test('a long text full of tags is read to its end', () => {
  // Who reads it over and over is not done when the time of a test is over.
  for (const piece of ['<think>', '<think ', '</think>', '<thought>◁think▷']) {
    const text = piece.repeat(200_000)
    expect(withoutThinking(text)).toBe(text)
  }
  expect(withoutThinking(`So ${'<think>a</think>'.repeat(200_000)}`)).toBe('So ')
})
