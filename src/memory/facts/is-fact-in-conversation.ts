/**
 * Checks whether the prompt contains a fact anyway: at least 85 % of its search terms occur in one
 * recent item (C57).
 *
 * The result stays the same during a turn, because another result would change the prompt before
 * the question. So items after the latest question are ignored, except facts that the model saved
 * there: they count as part of the conversation.
 */
import { textOf, type Item } from '../../core/item.ts'
import { tryParseJsonObject } from '../../core/json/json.ts'
import { findQuestionEnd, findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { extractSearchTerms } from '../../core/text/search-terms.ts'

export function createFactInConversationTest(items: readonly Item[]): (text: string) => boolean {
  let texts: readonly string[] | null = null
  const known = new Map<string, ReadonlySet<string>>()
  const wordsIn = (text: string): ReadonlySet<string> => {
    const words = known.get(text) ?? new Set(extractSearchTerms(text))
    known.set(text, words)
    return words
  }
  return (fact) => {
    texts ??= newestTexts(items)
    const words = extractSearchTerms(fact)
    const longest = words.reduce(
      (longer, word) => (word.length > longer.length ? word : longer),
      '',
    )
    return texts.some((said) => {
      // Checks the longest term first, which is cheaper than splitting a long text into terms.
      if (!said.toLowerCase().includes(longest)) return false
      const all = wordsIn(said)
      return words.filter((word) => all.has(word)).length >= NEARLY_ALL * words.length
    })
  }
}

const NEARLY_ALL = 0.85

/** Name of the gateway tool with which a model saves facts. */
export const REMEMBER_TOOL_NAME = 'remember'

function newestTexts(items: readonly Item[]): readonly string[] {
  const asked = behindQuestion(items)
  const texts = items.slice(asked).flatMap(keptIn)
  let left = LOOKED_AT_CHARS
  for (let at = asked - 1; at >= 0 && left > 0; at -= 1) {
    const text = textIn(items[at]).slice(0, left)
    left -= text.length
    if (text !== '') texts.push(text)
  }
  return texts
}

/** Older text is ignored, because the context policy may drop it. */
const LOOKED_AT_CHARS = 40_000

function behindQuestion(items: readonly Item[]): number {
  const start = findRoundStarts(items).at(-1)
  return start === undefined ? items.length : findQuestionEnd(items, start)
}

function textIn(item: Item | undefined): string {
  if (item?.type === 'message') return textOf(item.content)
  return item === undefined ? '' : (keptIn(item)[0] ?? '')
}

function keptIn(item: Item): readonly string[] {
  if (item.type !== 'function_call' || item.name !== REMEMBER_TOOL_NAME) return []
  const text = tryParseJsonObject(item.arguments)?.['text']
  return typeof text === 'string' ? [text] : []
}
