/**
 * How many tokens each layer may have of those that all have together: first what each cannot do
 * without, in the order given; where that is too much already, each gets its part of it. What is left
 * goes to those that have a use for more, by how much more.
 *
 * What comes out depends on these numbers alone, and so is the same from turn to turn. Together it is
 * never more than there is, and none gets more than it has a use for.
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

/** All of it, in whole tokens, by weight; what rounding leaves goes to the first. */
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
