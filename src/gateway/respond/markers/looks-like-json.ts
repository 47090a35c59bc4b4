/**
 * Whether a text may be an object or a list in JSON as a whole, told from how it begins, without
 * blanks in front; that is what clients read answers for. `null` while it cannot be told. A list is
 * told from a link, a citation and a box to tick by what is in the brackets, and what behind them.
 */
export function looksLikeJson(head: string): boolean | null {
  if (head.startsWith('{')) return true
  if (!head.startsWith('[')) return false
  const undecided = head.length < JSON_PROBE_CHARS ? null : true
  let depth = 0
  for (let at = 0; at < head.length; at += 1) {
    const letter = head.charAt(at)
    if (depth === 0 && at > 0 && !BLANK.test(letter)) return false
    if (letter === '[') depth += 1
    else if (letter === ']') depth -= 1
    else if (letter === '{' || letter === '"') return true
    else if (!IN_NUMBERS.test(letter)) return mayBeWord(head.slice(at)) ?? undecided
  }
  return undecided
}

/** So many characters say it. */
export const JSON_PROBE_CHARS = 24

const BLANK = /\s/

const IN_NUMBERS = /[\s\d.,+\-eE]/

function mayBeWord(text: string): boolean | null {
  const word = /^[a-z]*/.exec(text)?.[0] ?? ''
  const literal = LITERALS.find((one) => word !== '' && one.startsWith(word))
  if (literal === undefined) return false
  // It may go on, and be another word.
  if (word.length === text.length) return null
  return word === literal
}

const LITERALS = ['true', 'false', 'null']
