/**
 * What an author is called in a text, and in chat's field `name`. Whatever somebody calls himself, he
 * cannot begin a line of another speaker's with it, or pass for what the gateway says.
 */
import { truncateName, sanitizeName, MAX_NAME_CHARS } from '../../core/text/sanitize-name.ts'
import type { ItemAuthor } from '../../core/items/author-time-and-reset-fields.ts'

/** Empty if nothing is left of it. */
export function formatSpeakerLabel({ name, id }: ItemAuthor): string {
  const label = sanitizeName(name ?? id ?? '', UNFIT)
  return label.length <= MAX_NAME_CHARS ? label : truncateName(label)
}

/** Brackets, what ends a label or a line, and what is not seen. */
const UNFIT = /[[\]<>{}()|:：\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** OpenAI takes no blanks there, and neither `<`, `|`, `\` nor `/`. */
export function formatSpeakerField(author: ItemAuthor): string {
  return formatSpeakerLabel(author).replace(/[\s\\/]+/g, '_')
}

/** The text as said by somebody, unless it says so already. */
export function prefixWithSpeakerLabel(label: string, text: string): string {
  const begin = `${label}:`
  return label === '' || text.trimStart().startsWith(begin) ? text : `${begin} ${text}`
}
