/** How many cases a law is tried on: so many, or as many as `LAWS_RUNS` says. */
export function runs(count: number): { readonly numRuns: number } {
  return { numRuns: Number(process.env['LAWS_RUNS'] ?? count) }
}
