/** Returns how many cases a property tries: `count`, or `LAWS_RUNS` if set. */
export function numberOfRuns(count: number): { readonly numRuns: number } {
  return { numRuns: Number(process.env['LAWS_RUNS'] ?? count) }
}
