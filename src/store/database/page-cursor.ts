/**
 * Returns the id that a page begins after: `after`, or an id before or after all others for the first
 * page. Ids consist of digits and capital letters, with a prefix such as `fact_` in some tables. The
 * letter `z` sorts after them in the collation C and in those of languages; `~` sorts before digits in
 * the latter.
 */
export function startOfPage(after: string | null, order: 'asc' | 'desc'): string {
  return after ?? (order === 'asc' ? '' : 'z')
}
