/**
 * Facts in words, a line each, from the oldest. They are what users and models have said some time:
 * in front of them stands that they are notes, and what looks like a tag in them is none.
 */
import { escapeFakeNotices } from '../../core/text/gateway-notice.ts'
import { estimateTokens } from '../../core/text/estimate-tokens.ts'
import type { StoredFact } from '../../store/facts/fact-store-interface.ts'

export interface FactListOptions {
  readonly heading: string
  readonly tokens: number
  readonly most: number
}

/** `''` if there are none, or none fits. */
export function renderFacts(facts: readonly StoredFact[], telling: FactListOptions): string {
  const told = selectFittingFacts(facts, telling)
  if (told.length === 0) return ''
  const lines = told.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(lineOf)
  return [telling.heading, ...lines].join('\n')
}

/** As many as there is room for, those that come first before others. */
export function selectFittingFacts(
  facts: readonly StoredFact[],
  { heading, tokens, most }: FactListOptions,
): readonly StoredFact[] {
  let left = tokens - estimateTokens(`${heading}\n`)
  return facts.slice(0, most).filter((fact) => {
    const weight = estimateTokens(`${lineOf(fact)}\n`)
    if (weight > left) return false
    left -= weight
    return true
  })
}

/** By these characters of its id the model names a fact. */
export const FACT_HANDLE_CHARS = 8

export function formatFactHandle({ id }: Pick<StoredFact, 'id'>): string {
  return id.slice(-FACT_HANDLE_CHARS)
}

function lineOf(fact: StoredFact): string {
  return `- [${formatFactHandle(fact)}] ${plain(fact.text)}`
}

function plain(text: string): string {
  return escapeFakeNotices(text.replace(/\s+/g, ' ').replace(/<(?=[/!?\p{L}])/gu, '‹'))
}
