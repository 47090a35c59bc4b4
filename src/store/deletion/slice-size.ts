/**
 * Adapts the size of the transactions of a deletion to the speed of the database, so that each takes about
 * `TARGET_MS`: other writes wait for one transaction at most.
 */
export interface SliceSize {
  /** Maximum number of rows of the next transaction. */
  readonly getRows: () => number
  /**
   * Runs a transaction, and then pauses for as long as it took, at most 100 ms, so that other writes get their turn.
   */
  readonly run: <Result>(write: () => Promise<Result>) => Promise<Result>
}

const TARGET_MS = 20
/**
 * The minimum number of rows. It takes some 10 ms to write; with fewer rows, most of the time would go into reaching a
 * remote database.
 */
export const MIN_ROWS = 40
const [FIRST_ROWS, MAX_ROWS] = [MIN_ROWS, 500]
const MAX_PAUSE_MS = 100

export function createSliceSize(): SliceSize {
  let rows = FIRST_ROWS
  return {
    getRows: () => rows,
    async run(write) {
      const startedAtMs = performance.now()
      const result = await write()
      const tookMs = performance.now() - startedAtMs
      const factor = Math.min(1.5, Math.max(0.4, TARGET_MS / Math.max(tookMs, 1)))
      rows = Math.min(MAX_ROWS, Math.max(MIN_ROWS, Math.floor(rows * factor)))
      await pause(Math.min(tookMs, MAX_PAUSE_MS))
      return result
    },
  }
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, milliseconds))
}
