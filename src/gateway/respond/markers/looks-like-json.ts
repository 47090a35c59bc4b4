/**
 * Returns whether a text with this start may be a JSON object or array, which clients parse; null while
 * more text is needed. The start must not begin with white space. An array is distinguished from a link, a
 * citation (`[1] shows`) and a checkbox (`[x] done`) by the text in and after the brackets.
 */
export function looksLikeJson(start: string): boolean | null {
  if (start.startsWith('{')) return true
  if (!start.startsWith('[')) return false
  const undecided = start.length < JSON_PROBE_CHARS ? null : true
  let depth = 0
  for (let index = 0; index < start.length; index += 1) {
    const char = start.charAt(index)
    if (depth === 0 && index > 0 && !WHITE_SPACE.test(char)) return false
    if (char === '[') depth += 1
    else if (char === ']') depth -= 1
    else if (char === '{' || char === '"') return true
    else if (!NUMBER_OR_SEPARATOR.test(char))
      return startsWithLiteral(start.slice(index)) ?? undecided
  }
  return undecided
}

/** Number of characters after which a text that is still undecided counts as JSON. */
export const JSON_PROBE_CHARS = 24

const WHITE_SPACE = /\s/

const NUMBER_OR_SEPARATOR = /[\s\d.,+\-eE]/

/**
 * True if the text starts with `true`, `false` or `null`; null if more letters may follow, e.g. after
 * `tru`.
 */
function startsWithLiteral(text: string): boolean | null {
  const word = /^[a-z]*/.exec(text)?.[0] ?? ''
  const literal = LITERALS.find((one) => word !== '' && one.startsWith(word))
  if (literal === undefined) return false
  return word.length === text.length ? null : word === literal
}

const LITERALS = ['true', 'false', 'null']
