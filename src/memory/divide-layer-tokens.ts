/**
 * Divides a token limit among memory layers (blocks of text beside the conversation). First each
 * layer gets its minimum; if the minimums exceed the limit, each gets a proportional share. The
 * remaining tokens are divided in proportion to the difference between maximum and minimum.
 *
 * The result depends only on these numbers, so it is the same in every request. The sum never
 * exceeds the limit, and no layer gets more than its maximum. For example, a limit of 1000 for two
 * layers with 200 to 400 and 200 to 1000 tokens gives 320 and 680.
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
 * Divides `total` by weight into integers: 10 by weights 10 and 20 gives 4 and 6. Tokens lost by
 * rounding go to the first entries. No entry gets more than its weight.
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
