/** Counts the old rounds of a conversation: those before the cutoff that moves in steps of several rounds. */

/** Returns how many of the first rounds are old, e.g. 17 rounds with `keepRounds: 5, step: 10` → 10. */
export function countOldRounds(rounds: number, keepRounds: number, step: number): number {
  return Math.max(0, Math.floor((rounds - 1 - keepRounds) / step) * step)
}

/**
 * Returns the first round at whose beginning the given round is old; both are counted from 0. With `keepRounds: 5,
 * step: 10`, the rounds 0 to 9 are old from round 15 on.
 */
export function findRoundWhenOld(round: number, keepRounds: number, step: number): number {
  return keepRounds + Math.ceil((round + 1) / step) * step
}
