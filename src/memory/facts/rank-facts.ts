/**
 * Of the facts that share words with a question those that fit it best: by the words, the rarer ones
 * counting for more, by how important a fact is, and by how long ago somebody needed it. What says
 * much the same as a better one goes behind what says something else.
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

/** By so much a question is about a fact at least: not by a word that stands everywhere. */
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
 * BM25, of words that a fact has or has not, as a share of what a fact would have that has all of the
 * words of the question.
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

/** Of what nobody has ever noted nothing is known, but that the question is about that as well. */
function rarityOf(count: number, all: number): number {
  return count === 0 ? 1 : Math.log(1 + (all - count + 0.5) / (count + 0.5))
}

/** Of a few facts nothing is to be told of how rare a word is. */
const LEAST_TOTAL = 10

const SATURATION = 1.2
const LENGTH = 0.4
const USUAL_WORDS = 12

/** In most languages the words that say little are short. A number is no such word. */
function weightOf(word: string): number {
  return SHORT.test(word) ? 0.2 : 1
}

const SHORT = /^\p{Script=Latin}{1,3}$/u

/** Half of it is gone after 60 days. It does not fade what must not be forgotten. */
export function scoreRecency(
  { importance, usedAtMs }: Pick<StoredFact, 'importance' | 'usedAtMs'>,
  nowMs: number,
): number {
  if (importance >= CORE_IMPORTANCE) return 1
  return 0.5 ** (Math.max(0, nowMs - usedAtMs) / HALF_LIFE_MS)
}

const HALF_LIFE_MS = 60 * 24 * 60 * 60 * 1000

/** Each next one is the best that is left, less what is known of it already. */
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
