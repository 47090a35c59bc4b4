/**
 * Joins the texts of an answer for a chat client, which shows one message with one text. A blank
 * line separates the texts of different items.
 */
import { textOf, type Item } from '../../../core/item.ts'

export const MESSAGE_SEPARATOR = '\n\n'

/** Joins the texts of messages, without refusals. */
export function joinVisibleText(items: readonly Item[]): string {
  return items
    .flatMap((item) => (item.type === 'message' ? readVisibleText(item.content) : []))
    .filter((text) => text !== '')
    .join(MESSAGE_SEPARATOR)
}

function readVisibleText(content: Parameters<typeof textOf>[0]): string {
  return typeof content === 'string'
    ? content
    : textOf(content.filter((part) => part.type !== 'refusal'))
}

/**
 * Joins the reasoning of an answer: of each item the summary, or its raw reasoning if it has no
 * summary.
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
