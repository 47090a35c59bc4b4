/**
 * Ranks the facts that share search terms with a question, best first. The score combines relevance
 * (rare shared terms count more than frequent ones), importance and the time of the last use. A
 * fact that resembles one with a higher score is ranked lower, so that the list does not repeat
 * itself.
 */
import { measureTermOverlap, extractSearchTerms } from '../../core/text/search-terms.ts'
import {
  CORE_IMPORTANCE,
  type FoundFacts,
  type StoredFact,
} from '../../store/facts/fact-store-interface.ts'

export interface FactRankingOptions {
  readonly searchTerms: readonly string[]
  readonly nowMs: number
  readonly maxFacts: number
}

export function rankFacts(found: FoundFacts, ranking: FactRankingOptions): readonly StoredFact[] {
  const relevant = found.facts
    .map((fact) => scoreFact(fact, found, ranking))
    .filter(({ relevance }) => relevance >= MIN_RELEVANCE)
    .toSorted((a, b) => b.score - a.score || (a.fact.id < b.fact.id ? 1 : -1))
  return selectDiverse(relevant, ranking.maxFacts)
}

/**
 * Facts with a lower relevance are left out, e.g. a fact that shares with a question of several
 * terms only one that most facts contain.
 */
const MIN_RELEVANCE = 0.12

const WEIGHTS = { relevance: 0.6, importance: 0.2, recency: 0.2 }

interface ScoredFact {
  readonly fact: StoredFact
  readonly terms: readonly string[]
  readonly relevance: number
  readonly score: number
}

function scoreFact(
  fact: StoredFact,
  found: FoundFacts,
  { searchTerms, nowMs }: FactRankingOptions,
): ScoredFact {
  const terms = extractSearchTerms(fact.text)
  const relevance = computeRelevance(terms, searchTerms, found)
  const { importance } = fact
  const score =
    WEIGHTS.relevance * relevance +
    WEIGHTS.importance * importance +
    WEIGHTS.recency * scoreRecency(fact, nowMs)
  return { fact, terms, relevance, score }
}

/**
 * Computes how well a fact fits the question, from 0 to about 1.3 (BM25). The weights of the
 * question's terms that the fact contains are added up and divided by the sum of the weights of all
 * terms of the question. Rare terms weigh more than frequent ones. A fact with more than 12 terms
 * scores lower. A term that the fact repeats counts once.
 */
function computeRelevance(
  terms: readonly string[],
  searchTerms: readonly string[],
  { countFactsWith, factCount }: FoundFacts,
): number {
  const factTerms = new Set(terms)
  const totalFacts = Math.max(factCount, MIN_TOTAL_FACTS)
  let [shared, maximum] = [0, 0]
  for (const term of searchTerms) {
    const count = Math.min(countFactsWith(term), factCount)
    const rarity = computeRarity(count, totalFacts) * weighTerm(term)
    maximum += rarity
    if (factTerms.has(term)) shared += rarity
  }
  if (maximum === 0) return 0
  const length = 1 - BM25_LENGTH_WEIGHT + BM25_LENGTH_WEIGHT * (terms.length / AVERAGE_TERMS)
  return (shared / maximum) * ((BM25_SATURATION + 1) / (1 + BM25_SATURATION * length))
}

/**
 * Returns the weight of a term of the question: the fewer facts contain the term, the higher it is,
 * e.g. 3.0 if 1 of 30 facts contains it and 0.4 if 20 of 30 do. The weight of a term that no fact
 * contains is 1, so such a term lowers the relevance of all facts.
 */
function computeRarity(count: number, totalFacts: number): number {
  return count === 0 ? 1 : Math.log(1 + (totalFacts - count + 0.5) / (count + 0.5))
}

/**
 * If there are fewer facts, they count as 10. Otherwise, a term in 1 of 2 facts would already count
 * as frequent.
 */
const MIN_TOTAL_FACTS = 10

const BM25_SATURATION = 1.2
const BM25_LENGTH_WEIGHT = 0.4
const AVERAGE_TERMS = 12

/**
 * Returns a factor for a term's weight: 0.2 for Latin words of 1 to 3 letters, because most of them
 * are function words, e.g. "the". Returns 1 for all other terms, e.g. numbers.
 */
function weighTerm(term: string): number {
  return SHORT_LATIN_WORD.test(term) ? 0.2 : 1
}

const SHORT_LATIN_WORD = /^\p{Script=Latin}{1,3}$/u

/**
 * Returns the recency score of a fact, from 0 to 1: 1 when it was just used, 0.5 after 60 days
 * without use, 0.25 after 120. A fact with an importance of at least 0.9 always has 1.
 */
export function scoreRecency(
  { importance, usedAtMs }: Pick<StoredFact, 'importance' | 'usedAtMs'>,
  nowMs: number,
): number {
  if (importance >= CORE_IMPORTANCE) return 1
  return 0.5 ** (Math.max(0, nowMs - usedAtMs) / HALF_LIFE_MS)
}

const HALF_LIFE_MS = 60 * 24 * 60 * 60 * 1000

/**
 * Selects up to `maxFacts` facts, each time the remaining one with the highest score. A fact that
 * resembles a selected one loses up to 0.5 of its score, so that the list does not repeat itself.
 */
function selectDiverse(relevant: readonly ScoredFact[], maxFacts: number): readonly StoredFact[] {
  const remaining = relevant
    .slice(0, MAX_COMPARED_FACTS)
    .map((candidate) => ({ ...candidate, known: 0 }))
  const chosen: StoredFact[] = []
  while (chosen.length < maxFacts && remaining.length > 0) {
    const values = remaining.map(({ score, known }) => score - 0.5 * known)
    const [next] = remaining.splice(values.indexOf(Math.max(...values)), 1)
    if (next === undefined) break
    chosen.push(next.fact)
    for (const candidate of remaining)
      candidate.known = Math.max(candidate.known, measureTermOverlap(candidate.terms, next.terms))
  }
  return chosen
}

const MAX_COMPARED_FACTS = 48
