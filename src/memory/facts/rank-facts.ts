/**
 * Ranks facts that share search terms with a question. The score combines relevance (rare terms
 * count more), importance and the time of the last use. A fact that resembles a better one is
 * ranked lower.
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

/** Facts with a lower relevance are left out. A single frequent term gives less than this. */
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
 * Computes the BM25 relevance of a fact, from 0 to about 1: the score of the shared terms, divided
 * by the score of a fact with all terms of the question. Repeated terms in a fact do not count.
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
 * Returns a high weight for a rare term, e.g. 3.0 for a term in 1 of 30 facts and 0.4 for a term in
 * 20 of 30. Returns 1 for a term that no fact contains, so such a term lowers the relevance of all
 * facts.
 */
function computeRarity(count: number, totalFacts: number): number {
  return count === 0 ? 1 : Math.log(1 + (totalFacts - count + 0.5) / (count + 0.5))
}

/** Minimum number of facts that is assumed, because the frequency of a term says little among fewer. */
const MIN_TOTAL_FACTS = 10

const BM25_SATURATION = 1.2
const BM25_LENGTH_WEIGHT = 0.4
const AVERAGE_TERMS = 12

/**
 * Returns 0.2 for Latin words of 1 to 3 letters, because most of them are function words, e.g.
 * "the". Returns 1 for all other terms, numbers included.
 */
function weighTerm(term: string): number {
  return SHORT_LATIN_WORD.test(term) ? 0.2 : 1
}

const SHORT_LATIN_WORD = /^\p{Script=Latin}{1,3}$/u

/** Returns the recency score, 0 to 1: it halves every 60 days without use; core facts always have 1. */
export function scoreRecency(
  { importance, usedAtMs }: Pick<StoredFact, 'importance' | 'usedAtMs'>,
  nowMs: number,
): number {
  if (importance >= CORE_IMPORTANCE) return 1
  return 0.5 ** (Math.max(0, nowMs - usedAtMs) / HALF_LIFE_MS)
}

const HALF_LIFE_MS = 60 * 24 * 60 * 60 * 1000

/**
 * Selects the best remaining fact again and again. Each selected fact lowers the score of the facts
 * that resemble it.
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
