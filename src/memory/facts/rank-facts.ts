/**
 * Ranks the facts that share search terms with a question. The score combines relevance (rare terms
 * count more), importance and the time of the last use. A fact that resembles a better one is
 * ranked lower.
 */
import { compareTerms, extractSearchTerms } from '../../core/text/search-terms.ts'
import {
  CORE_IMPORTANCE,
  type FoundFacts,
  type StoredFact,
} from '../../store/facts/fact-store-interface.ts'

export interface FactRankingOptions {
  readonly words: readonly string[]
  readonly nowMs: number
  readonly most: number
}

export function rankFacts(found: FoundFacts, ranking: FactRankingOptions): readonly StoredFact[] {
  const fitting = found.facts
    .map((fact) => scored(fact, found, ranking))
    .filter(({ relevance }) => relevance >= LEAST_RELEVANCE)
    .toSorted((a, b) => b.score - a.score || (a.fact.id < b.fact.id ? 1 : -1))
  return diverse(fitting, ranking.most)
}

/** Minimum relevance; a single frequent term is not enough. */
const LEAST_RELEVANCE = 0.12

const WEIGHTS = { relevance: 0.6, importance: 0.2, recency: 0.2 }

interface Scored {
  readonly fact: StoredFact
  readonly words: readonly string[]
  readonly relevance: number
  readonly score: number
}

function scored(
  fact: StoredFact,
  found: FoundFacts,
  { words: asked, nowMs }: FactRankingOptions,
): Scored {
  const words = extractSearchTerms(fact.text)
  const relevance = relevanceOf(words, asked, found)
  const { importance } = fact
  const score =
    WEIGHTS.relevance * relevance +
    WEIGHTS.importance * importance +
    WEIGHTS.recency * scoreRecency(fact, nowMs)
  return { fact, words, relevance, score }
}

/**
 * Computes BM25 relevance from 0 to about 1: the score of the shared terms, divided by the score of
 * a fact with all terms of the question. Repeated terms in a fact do not count.
 */
function relevanceOf(
  words: readonly string[],
  asked: readonly string[],
  { countOf, total }: FoundFacts,
): number {
  const own = new Set(words)
  const all = Math.max(total, LEAST_TOTAL)
  let [shared, wanted] = [0, 0]
  for (const word of asked) {
    const count = Math.min(countOf(word), total)
    const rarity = rarityOf(count, all) * weightOf(word)
    wanted += rarity
    if (own.has(word)) shared += rarity
  }
  if (wanted === 0) return 0
  const length = 1 - LENGTH + LENGTH * (words.length / USUAL_WORDS)
  return (shared / wanted) * ((SATURATION + 1) / (1 + SATURATION * length))
}

/** A term that no fact contains gets the weight 1, so it lowers the relevance of all facts. */
function rarityOf(count: number, all: number): number {
  return count === 0 ? 1 : Math.log(1 + (all - count + 0.5) / (count + 0.5))
}

/** With fewer than 10 facts, the frequency of a term says little, so at least 10 are assumed. */
const LEAST_TOTAL = 10

const SATURATION = 1.2
const LENGTH = 0.4
const USUAL_WORDS = 12

/** Latin words of 1 to 3 letters are mostly function words, e.g. "the". Numbers are not. */
function weightOf(word: string): number {
  return SHORT.test(word) ? 0.2 : 1
}

const SHORT = /^\p{Script=Latin}{1,3}$/u

/** Halves every 60 days after the last use; always 1 for core facts. */
export function scoreRecency(
  { importance, usedAtMs }: Pick<StoredFact, 'importance' | 'usedAtMs'>,
  nowMs: number,
): number {
  if (importance >= CORE_IMPORTANCE) return 1
  return 0.5 ** (Math.max(0, nowMs - usedAtMs) / HALF_LIFE_MS)
}

const HALF_LIFE_MS = 60 * 24 * 60 * 60 * 1000

/**
 * Selects repeatedly the best remaining fact; similarity to a selected fact lowers the score of the
 * others.
 */
function diverse(fitting: readonly Scored[], most: number): readonly StoredFact[] {
  const left = fitting.slice(0, MOST_COMPARED).map((each) => ({ ...each, known: 0 }))
  const chosen: StoredFact[] = []
  while (chosen.length < most && left.length > 0) {
    let best = 0
    left.forEach((each, at) => {
      if (valueOf(each) > valueOf(left[best])) best = at
    })
    const [next] = left.splice(best, 1)
    if (next === undefined) break
    chosen.push(next.fact)
    for (const each of left) each.known = Math.max(each.known, compareTerms(each.words, next.words))
  }
  return chosen
}

const MOST_COMPARED = 48

function valueOf(each: { readonly score: number; readonly known: number } | undefined): number {
  return each === undefined ? -1 : each.score - 0.5 * each.known
}
