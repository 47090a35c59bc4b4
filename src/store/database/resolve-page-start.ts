/**
 * Returns the id after which a page of a list begins: `after`, or for the first page a text that
 * sorts before (`''`) or after (`z`) all ids. Ids consist of digits and capital letters, some with
 * a prefix such as `fact_`. The letter `z` sorts after them in the collation C and in those of
 * languages, e.g. `en_US`. In the latter, `~` would sort before digits.
 */
export function resolvePageStart(after: string | null, order: 'asc' | 'desc'): string {
  return after ?? (order === 'asc' ? '' : 'z')
}
