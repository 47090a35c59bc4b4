/**
 * Renders facts as text, one per line, oldest first. Users and models write facts, so a fact must
 * not be mistaken for an instruction: the heading calls the facts notes, and `<` at the start of a
 * tag is replaced with `‹`.
 */
import { estimateTokens } from '../../core/text/estimate-tokens.ts'
import type { StoredFact } from '../../store/facts/fact-store-interface.ts'

export interface FactListOptions {
  readonly heading: string
  readonly maxTokens: number
  readonly maxFacts: number
}

/** Returns the heading and the facts that fit the limits in `options`; `''` if none fits. */
export function renderFacts(facts: readonly StoredFact[], options: FactListOptions): string {
  const selected = selectFittingFacts(facts, options)
  if (selected.length === 0) return ''
  const lines = selected.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(renderFact)
  return [options.heading, ...lines].join('\n')
}

/**
 * Selects from the first `maxFacts` facts, best first, those that together fit `maxTokens`. A fact
 * that is longer than the remaining tokens is skipped, because a shorter one after it may still
 * fit.
 */
export function selectFittingFacts(
  facts: readonly StoredFact[],
  { heading, maxTokens, maxFacts }: FactListOptions,
): readonly StoredFact[] {
  let remainingTokens = maxTokens - estimateTokens(`${heading}\n`)
  return facts.slice(0, maxFacts).filter((fact) => {
    const weight = estimateTokens(`${renderFact(fact)}\n`)
    if (weight > remainingTokens) return false
    remainingTokens -= weight
    return true
  })
}

/**
 * Length of the short id with which the model refers to a fact, e.g. to forget it: the last 8
 * characters of the fact's id.
 */
export const FACT_HANDLE_CHARS = 8

export function formatFactHandle({ id }: Pick<StoredFact, 'id'>): string {
  return id.slice(-FACT_HANDLE_CHARS)
}

function renderFact(fact: StoredFact): string {
  return `- [${formatFactHandle(fact)}] ${cleanText(fact.text)}`
}

function cleanText(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/<(?=[/!?\p{L}])/gu, '‹')
}
