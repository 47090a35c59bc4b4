/**
 * What an author is called in a text, and in chat's field `name`. Whatever somebody calls himself, he
 * cannot begin a line of another speaker's with it, or pass for what the gateway says.
 */
import type { Author } from '../conversation/item-field.ts'

/** Of at most so many characters, which is also what OpenAI takes. */
const LONGEST = 64

/** Empty if nothing is left of it. */
export function labelOf({ name, id }: Author): string {
  return shortened((name ?? id ?? '').replace(UNFIT, ' ').replace(/ {2,}/g, ' ').trim())
}

/** Brackets, what ends a label or a line, and what is not seen. */
const UNFIT = /[[\]<>{}()|:：\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** OpenAI takes no blanks there, and neither `<`, `|`, `\` nor `/`. */
export function fieldNameOf(author: Author): string {
  return labelOf(author).replace(/[\s\\/]+/g, '_')
}

function shortened(label: string): string {
  if (label.length <= LONGEST) return label
  // A character of two halves is not parted.
  return label
    .slice(0, LONGEST)
    .toWellFormed()
    .replace(/\uFFFD$/, '')
    .trimEnd()
}

/** The text as said by somebody, unless it says so already. */
export function spokenBy(label: string, text: string): string {
  const begin = `${label}:`
  return label === '' || text.trimStart().startsWith(begin) ? text : `${begin} ${text}`
}
