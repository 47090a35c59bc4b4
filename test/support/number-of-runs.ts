import { triesAllCases } from './sample.ts'

/** Returns how many cases a property tries: `count`, half of them in a sampled run, or `LAWS_RUNS` if set. */
export function numberOfRuns(count: number): { readonly numRuns: number } {
  const runs = triesAllCases ? count : Math.ceil(count / 2)
  return { numRuns: Number(process.env['LAWS_RUNS'] ?? runs) }
}
