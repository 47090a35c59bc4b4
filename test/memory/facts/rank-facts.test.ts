import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { extractSearchTerms } from '../../../src/core/text/search-terms.ts'
import { rankFacts, scoreRecency } from '../../../src/memory/facts/rank-facts.ts'
import type { StoredFact } from '../../../src/store/facts/fact-store-interface.ts'
import { newFact } from '../../store/contract-facts.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const NOW = 2_000_000_000_000

function ranked(question: string, facts: readonly StoredFact[], most = 10, total = 50) {
  const words = extractSearchTerms(question)
  const countOf = (word: string) =>
    facts.filter(({ text }) => extractSearchTerms(text).includes(word)).length
  return rankFacts(
    { facts, countFactsWith: countOf, factCount: total },
    { searchTerms: words, nowMs: NOW, maxFacts: most },
  )
}
const fact = (text: string, fields: Partial<StoredFact> = {}) =>
  newFact({ text, usedAtMs: NOW, importance: 0.5, ...fields })
const textsOf = (facts: readonly StoredFact[]) => facts.map(({ text }) => text)

describe('ranking of the facts that share search terms with a question (C59)', () => {
  test('ranking of facts: the fact that the question is about comes first', () => {
    const facts = [
      fact('The dog of the neighbours is loud'),
      fact('The server of the shop listens on port 8080'),
      fact('The server is old'),
    ]
    const best = textsOf(ranked('Which port does the server use?', facts))
    expect(best[0]).toBe('The server of the shop listens on port 8080')
    expect(best).not.toContain('The dog of the neighbours is loud')
  })

  test('ranking of facts: the matching fact is found among thousands, even if it lacks some terms of the question', () => {
    const question = 'Somebody wonders how this might be settled before the orchid dries up'
    const best = ranked(question, [fact('The orchid needs little water')], 10, 200)
    expect(textsOf(best)).toEqual(['The orchid needs little water'])
    expect(ranked('How is the weather up there?', [fact('The dog is up')], 10, 200)).toHaveLength(1)
    expect(ranked('Will it rain in the Alps tomorrow?', [fact('The dog barks')], 10, 1)).toEqual([])
  })

  test('ranking of facts: of two equally relevant facts, the more important one comes first', () => {
    const facts = [fact('The cat eats fish'), fact('The cat eats meat', { importance: 0.8 })]
    expect(textsOf(ranked('what does the cat eat', facts))[0]).toBe('The cat eats meat')
  })

  test('ranking of facts: of two equally relevant facts, the more recently used one comes first', () => {
    const long = { usedAtMs: NOW - 200 * DAY_MS }
    const facts = [fact('The cat eats fish', long), fact('The cat eats meat')]
    expect(textsOf(ranked('what does the cat eat', facts))[0]).toBe('The cat eats meat')
  })

  test('ranking of facts: a near duplicate of the best fact comes after a different fact', () => {
    const facts = [
      fact('The cat eats fish every day', { importance: 0.8 }),
      fact('The cat eats fish every morning', { importance: 0.8 }),
      fact('The cat hates water'),
    ]
    expect(textsOf(ranked('the cat', facts, 2))).toEqual([
      expect.stringContaining('fish'),
      'The cat hates water',
    ])
  })
})

test('the recency score of a fact halves after 60 days without use, unless its importance is at least 0.9', () => {
  const usedAtMs = NOW - 60 * DAY_MS
  expect(scoreRecency({ importance: 0.5, usedAtMs }, NOW)).toBeCloseTo(0.5)
  expect(scoreRecency({ importance: 0.9, usedAtMs }, NOW)).toBe(1)
  expect(scoreRecency({ importance: 0.5, usedAtMs: NOW + DAY_MS }, NOW)).toBe(1)
})

test('ranking of facts: each found fact is returned at most once, whatever the order of the input', () => {
  const texts = fc.array(fc.constantFrom('a cat', 'the dog', 'cat and dog', 'one cat more', '猫'))
  fc.assert(
    fc.property(texts, fc.nat(5), (all, most) => {
      const facts = all.map((text, at) => fact(text, { id: `fact_${`${at}`.padStart(4, '0')}` }))
      const best = ranked('cat dog 猫', facts, most)
      expect(best.length).toBeLessThanOrEqual(most)
      expect(new Set(best).size).toBe(best.length)
      expect(best.every((each) => facts.includes(each))).toBe(true)
      expect(ranked('cat dog 猫', facts.toReversed(), most)).toEqual(best)
    }),
  )
})
