/**
 * The slowest laws try a share of their cases in each run, and another share in the next run: the seed
 * says which. `SAMPLE_SEED=7 npm test` tries the share of a run that printed 7, and `npm run test:all`
 * tries all cases.
 */
const wanted = process.env['SAMPLE_SEED'] ?? '0'

/** Whether this run tries all cases. */
export const isWhole = wanted === 'all'

/** Whether the case with this number is in this run, which has one of `shares` equal shares. */
export function isSampled(number: number, shares: number): boolean {
  return isWhole || number % shares === Number(wanted) % shares
}
