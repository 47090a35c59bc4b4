/**
 * Joins the texts of an answer into one text, because a chat client shows an answer as one message.
 * A blank line separates the texts of different items.
 */
import { textOf, type Item, type Part } from '../../../core/item.ts'

export const MESSAGE_SEPARATOR = '\n\n'

/** Joins the texts of all messages among the items, without refusals. */
export function joinVisibleText(items: readonly Item[]): string {
  return items
    .map((item) => (item.type === 'message' ? textOf(item.content.filter(isNoRefusal)) : ''))
    .filter((text) => text !== '')
    .join(MESSAGE_SEPARATOR)
}

function isNoRefusal({ type }: Part): boolean {
  return type !== 'refusal'
}

/**
 * Joins the reasoning of an answer: the summary of each reasoning item, or its raw text if it has
 * no summary.
 */
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
