/**
 * Formats the header `x-backstory-dropped`: the fields of the request that were dropped or weakened, e.g.
 * `n, seed, tools[0], tool_choice`.
 */

/** Returns the value of the header; null if no field is lost. */
export function formatDroppedHeader(lostFields: readonly string[]): string | null {
  if (lostFields.length === 0) return null
  let value = ''
  for (const [index, field] of lostFields.entries()) {
    const next = `${value}${index === 0 ? '' : ', '}${encodeFieldName(field)}`
    if (next.length > MAX_HEADER_CHARS) {
      const more = `${lostFields.length - index} more`
      return value === '' ? more : `${value}, ${more}`
    }
    value = next
  }
  return value
}

/** Clients and proxies accept much longer headers, but a longer list helps no reader. */
const MAX_HEADER_CHARS = 1000

/** Encodes the characters of a name that a header cannot have, or that would end a name in the list. */
function encodeFieldName(name: string): string {
  return name
    .toWellFormed()
    .replaceAll(/[^!#$&'()*+./0-9:;<=>?@A-Z[\]^_`a-z{|}~-]/gu, (char) => encodeURIComponent(char))
}
