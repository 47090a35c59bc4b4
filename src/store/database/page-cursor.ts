/**
 * Returns the id that a page of a list begins after: `after`, or for the first page a text that
 * sorts before (`''`) or after (`z`) all ids. Ids consist of digits and capital letters, some with
 * a prefix such as `fact_`. The letter `z` sorts after them in the collation C and in those of
 * languages; `~` would sort before digits in the latter.
 */
export function resolvePageStart(after: string | null, order: 'asc' | 'desc'): string {
  return after ?? (order === 'asc' ? '' : 'z')
}
