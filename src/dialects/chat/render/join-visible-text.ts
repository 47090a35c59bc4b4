/**
 * What a chat client is shown of an answer. It knows one message with one text, where an answer may
 * hold several; they are parted by a blank line.
 */
import { textOf, type Item } from '../../../core/item.ts'

export const MESSAGE_SEPARATOR = '\n\n'

/** The words, without refusals. */
export function joinVisibleText(items: readonly Item[]): string {
  return items
    .flatMap((item) => (item.type === 'message' ? wordsOf(item.content) : []))
    .filter((text) => text !== '')
    .join(MESSAGE_SEPARATOR)
}

function wordsOf(content: Parameters<typeof textOf>[0]): string {
  return typeof content === 'string'
    ? content
    : textOf(content.filter((part) => part.type !== 'refusal'))
}

/** The reasoning in words: a summary where there is one, else the reasoning itself. */
export function joinVisibleReasoning(items: readonly Item[]): string {
  return items
    .flatMap((item) => {
      if (item.type !== 'reasoning') return []
      const parts = item.summary.length > 0 ? item.summary : (item.content ?? [])
      return parts.map((part) => part.text)
    })
    .filter((text) => text !== '')
    .join(MESSAGE_SEPARATOR)
}
