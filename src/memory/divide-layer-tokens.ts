/**
 * Divides the token limit that a policy sets for all memory layers (blocks of text beside the
 * conversation). Each layer gets its minimum. The tokens that remain are divided in proportion to
 * each layer's maximum minus its minimum. For example, a limit of 1000 for two layers with 200 to
 * 400 and 200 to 1000 tokens gives 320 and 680. A limit below the sum of the minimums is divided in
 * proportion to the minimums.
 *
 * The sum of the shares never exceeds the limit, and no layer gets more than its maximum. The
 * shares depend only on the limit, the minimums and the maximums, so they are the same in every
 * request with the same policy.
 */
export interface TokenRange {
  readonly minTokens: number
  readonly maxTokens: number
}

export function divideLayerTokens(total: number, ranges: readonly TokenRange[]): readonly number[] {
  const available = Math.max(0, Math.floor(total))
  const minimums = ranges.map(({ minTokens, maxTokens }) => Math.min(minTokens, maxTokens))
  const headroom = ranges.map(({ maxTokens }, index) => maxTokens - (minimums[index] ?? 0))
  const minimumSum = sum(minimums)
  if (minimumSum >= available) return divideByWeight(available, minimums)
  const pool = Math.min(available - minimumSum, sum(headroom))
  const extraTokens = divideByWeight(pool, headroom)
  return minimums.map((tokens, index) => tokens + (extraTokens[index] ?? 0))
}

/**
 * Divides `total` tokens into integer shares in proportion to `weights`, e.g. 10 tokens by the
 * weights 10 and 20 into 4 and 6. The tokens that remain after rounding down go to the first
 * shares. No share exceeds its weight.
 */
function divideByWeight(total: number, weights: readonly number[]): readonly number[] {
  const weightSum = sum(weights)
  if (weightSum === 0) return weights.map(() => 0)
  const shares = weights.map((weight) => Math.min(weight, Math.floor((total * weight) / weightSum)))
  let remainder = Math.min(total, weightSum) - sum(shares)
  return shares.map((share, index) => {
    const extra = Math.min(remainder, (weights[index] ?? 0) - share, 1)
    remainder -= extra
    return share + extra
  })
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
