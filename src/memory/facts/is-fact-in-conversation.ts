/**
 * Checks whether the conversation already contains a fact, so that it need not be sent: at least 85
 * % of the fact's search terms occur in one recent item (C57).
 *
 * Items after the latest question are ignored, because the result must not change between the
 * requests of one round: another result would change the prompt before the question. Only facts
 * that the model saved after the question count as part of the conversation.
 */
import { textOf, type Item } from '../../core/item.ts'
import { tryParseJsonObject } from '../../core/json/json.ts'
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
      // Looks for the longest term first, because this is cheaper than splitting a long text into
      // terms.
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
  const texts = items.slice(questionEnd).flatMap(listSavedFacts)
  let remainingChars = MAX_RECENT_CHARS
  for (let index = questionEnd - 1; index >= 0 && remainingChars > 0; index -= 1) {
    const text = readItemText(items[index]).slice(0, remainingChars)
    remainingChars -= text.length
    if (text !== '') texts.push(text)
  }
  return texts
}

/**
 * Only the last 40,000 characters are searched, because the context policy may drop older text from
 * the prompt.
 */
const MAX_RECENT_CHARS = 40_000

function readItemText(item: Item | undefined): string {
  if (item?.type === 'message') return textOf(item.content)
  return item === undefined ? '' : (listSavedFacts(item)[0] ?? '')
}

function listSavedFacts(item: Item): readonly string[] {
  if (item.type !== 'function_call' || item.name !== REMEMBER_TOOL_NAME) return []
  const text = tryParseJsonObject(item.arguments)?.['text']
  return typeof text === 'string' ? [text] : []
}
