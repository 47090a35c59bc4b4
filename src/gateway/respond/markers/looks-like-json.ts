/**
 * Detects from the start of a text whether all of it may be a JSON object or array, because clients parse such
 * answers. White space before the text must be removed. Returns null while more text is needed. The content and
 * the character after the brackets distinguish an array from a link, a citation (`[1] shows`) or a checkbox (`[x] done`).
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

/** A text that is undecided after this many characters is taken for JSON. */
export const JSON_PROBE_CHARS = 24

const WHITE_SPACE = /\s/

const NUMBER_OR_SEPARATOR = /[\s\d.,+\-eE]/

/** Returns null if the text ends inside or directly after a literal, e.g. `tru`: more letters may follow. */
function startsWithLiteral(text: string): boolean | null {
  const word = /^[a-z]*/.exec(text)?.[0] ?? ''
  const literal = LITERALS.find((one) => word !== '' && one.startsWith(word))
  if (literal === undefined) return false
  return word.length === text.length ? null : word === literal
}

const LITERALS = ['true', 'false', 'null']
