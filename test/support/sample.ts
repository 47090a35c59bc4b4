/**
 * Selects the cases of the slowest tests: each run tries a share that depends on the seed. `SAMPLE_SEED=7 npm
 * test` repeats the share of a run that printed 7; `npm run test:all` tries all cases.
 */
const wanted = process.env['SAMPLE_SEED'] ?? '0'

/** True if this run tries all cases. */
export const triesAllCases = wanted === 'all'

/** True if the case with this number belongs to this run's share, one of `shares` equal ones. */
export function isSampled(number: number, shares: number): boolean {
  return triesAllCases || number % shares === Number(wanted) % shares
}

/** Returns the cases of this run's share, one of `shares` equal ones. */
export function sampleCases<Case>(cases: readonly Case[], shares: number): readonly Case[] {
  return cases.filter((_, index) => isSampled(index, shares))
}
