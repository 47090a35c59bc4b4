/** How many cases a law is tried on: fewer where `LAWS_RUNS` says that nobody has the time. */
export function runs(count: number): { readonly numRuns: number } {
  return { numRuns: Math.min(count, Number(process.env['LAWS_RUNS'] ?? count)) }
}
