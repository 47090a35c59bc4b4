/**
 * Whether a text may be JSON as a whole, told from how it begins, without blanks in front. `null`
 * while that cannot be told. A list is told from a link by what stands behind the bracket.
 */
export function mayBeJson(head: string): boolean | null {
  if (head.startsWith('{')) return true
  if (!head.startsWith('[')) return false
  const inside = head.slice(1, ENOUGH).trimStart()
  if (inside === '') return head.length < ENOUGH ? null : true
  const id = /^[0-9A-HJKMNP-TV-Z]*/.exec(inside)?.[0] ?? ''
  if (id.length >= 20) return false
  if (id === inside && head.length < ENOUGH) return null
  if (/^["{[\]\-0-9]/.test(inside)) return true
  const word = /^[a-z]*/.exec(inside)?.[0] ?? ''
  const literal = LITERALS.find((one) => word !== '' && one.startsWith(word))
  if (literal === undefined) return false
  return word === literal || word.length < inside.length ? word === literal : null
}

/** So many characters say it. */
export const ENOUGH = 24

const LITERALS = ['true', 'false', 'null']
