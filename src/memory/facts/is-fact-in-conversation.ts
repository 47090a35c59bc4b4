/**
 * Checks whether the conversation already contains a fact, so that the fact need not be sent (C57).
 * It does if at least 85 % of the fact's search terms, among them the longest one, occur in one
 * message or saved fact of the last 40,000 characters up to the latest question.
 *
 * Items after the latest question do not count. Otherwise, text that the model writes between tool
 * calls could remove a fact from the prompt in the middle of a round, and the provider's cache would
 * be lost. Exception: a fact that the model saves after the question counts, so that it is not added
 * to the prompt in the same round.
 */
import { textOf, type Item } from '../../core/item.ts'
import {
  createJsonBudget,
  tryParseLimitedJsonObject,
  type JsonBudget,
} from '../../core/json/limited-json.ts'
import { findQuestionEnd, findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { extractSearchTerms } from '../../core/text/search-terms.ts'

export function createFactInConversationCheck(items: readonly Item[]): (text: string) => boolean {
  let texts: readonly string[] | null = null
  const termsByText = new Map<string, ReadonlySet<string>>()
  const getTerms = (text: string): ReadonlySet<string> => {
    const terms = termsByText.get(text) ?? new Set(extractSearchTerms(text))
    termsByText.set(text, terms)
    return terms
  }
  return (fact) => {
    texts ??= listRecentTexts(items)
    const terms = extractSearchTerms(fact)
    const longest = terms.reduce((best, term) => (term.length > best.length ? term : best), '')
    return texts.some((text) => {
      // Most texts lack the longest term. Looking for it first avoids splitting such texts into
      // terms, which takes longer.
      if (!text.toLowerCase().includes(longest)) return false
      const textTerms = getTerms(text)
      return terms.filter((term) => textTerms.has(term)).length >= MIN_SHARED_TERMS * terms.length
    })
  }
}

const MIN_SHARED_TERMS = 0.85

/** Name of the gateway tool with which a model saves facts. */
export const REMEMBER_TOOL_NAME = 'remember'

function listRecentTexts(items: readonly Item[]): readonly string[] {
  const start = findRoundStarts(items).at(-1)
  const questionEnd = start === undefined ? items.length : findQuestionEnd(items, start)
  const budget = createJsonBudget()
  const texts = items.slice(questionEnd).flatMap((item) => listSavedFacts(item, budget))
  let remainingChars = MAX_RECENT_CHARS
  for (let index = questionEnd - 1; index >= 0 && remainingChars > 0; index -= 1) {
    const text = readItemText(items[index], budget).slice(0, remainingChars)
    remainingChars -= text.length
    if (text !== '') texts.push(text)
  }
  return texts
}

/**
 * Number of characters up to the latest question in which a fact is looked for. The context policy
 * may drop older text from the prompt, so a fact that only older text contains must be sent.
 */
const MAX_RECENT_CHARS = 40_000

function readItemText(item: Item | undefined, budget: JsonBudget): string {
  if (item?.type === 'message') return textOf(item.content)
  return item === undefined ? '' : (listSavedFacts(item, budget)[0] ?? '')
}

function listSavedFacts(item: Item, budget: JsonBudget): readonly string[] {
  if (item.type !== 'function_call' || item.name !== REMEMBER_TOOL_NAME) return []
  const text = tryParseLimitedJsonObject(item.arguments, budget)?.['text']
  return typeof text === 'string' ? [text] : []
}
