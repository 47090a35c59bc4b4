/**
 * Divides a token limit among memory layers: first the minimum of each layer; if the minimums
 * exceed the limit, each gets a proportional share. The remaining tokens go to the layers in
 * proportion to the difference between maximum and minimum.
 *
 * The result depends only on these numbers, so it is the same in every turn. The sum never exceeds
 * the limit, and no layer gets more than its maximum. For example, a limit of 1000 for two layers
 * with 200 to 400 and 200 to 1000 tokens gives 320 and 680.
 */
export interface TokenClaim {
  readonly minTokens: number
  readonly maxTokens: number
}

export function divideTokens(total: number, claims: readonly TokenClaim[]): readonly number[] {
  const available = Math.max(0, Math.floor(total))
  const least = claims.map(({ minTokens, maxTokens }) => Math.min(minTokens, maxTokens))
  const headroom = claims.map(({ maxTokens }, at) => maxTokens - (least[at] ?? 0))
  const needed = sum(least)
  if (needed >= available) return shared(available, least)
  const pool = Math.min(available - needed, sum(headroom))
  const more = shared(pool, headroom)
  return least.map((tokens, at) => tokens + (more[at] ?? 0))
}

/** Divides `total` by weight into integers; the tokens lost by rounding go to the first layers. */
function shared(total: number, weights: readonly number[]): readonly number[] {
  const all = sum(weights)
  if (all === 0) return weights.map(() => 0)
  const shares = weights.map((weight) => Math.min(weight, Math.floor((total * weight) / all)))
  let rest = Math.min(total, all) - sum(shares)
  return shares.map((share, at) => {
    const extra = Math.min(rest, (weights[at] ?? 0) - share, 1)
    rest -= extra
    return share + extra
  })
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
