/**
 * From where on media are shown, if there may be no more than a limit of them. The border moves in
 * steps of half the limit, counted from the beginning, so that it stays put while a few more come.
 *
 * The newest question is whole, whatever the limit, and what it shows is counted. What tools have
 * shown since may take up what is left, and one at least.
 */
export interface WeighedMedia {
  /** Where it begins and ends, counted from the beginning of the conversation. */
  readonly from: number
  readonly to: number
  /** What of the limit it takes; nothing, if the same is counted somewhere else. */
  readonly weight: number
  readonly zone: 'before' | 'question' | 'since'
}

/** What begins before this is not shown, the question excepted. */
export function findMediaCutoff(all: readonly WeighedMedia[], limit: number): number {
  if (limit === 0) return Number.POSITIVE_INFINITY
  const firstSince = all.findIndex(({ zone }) => zone === 'since')
  const since = firstSince < 0 ? all.length : firstSince
  const asked = all.reduce((sum, { zone, weight }) => sum + (zone === 'question' ? weight : 0), 0)
  const left = Math.max(1, limit - asked)
  let taken = 0
  for (let at = all.length - 1; at >= 0; at -= 1) {
    const { to, weight } = all[at] ?? NOTHING
    taken += weight
    if (at >= since) {
      if (taken > left) return stepped(to, left)
    } else if (taken > limit) {
      // What came since the question has its own room, and is not cut while it fits in there.
      return Math.min(stepped(to, limit), all[since]?.from ?? Number.POSITIVE_INFINITY)
    }
  }
  return 0
}

const NOTHING = { to: 0, weight: 0 }

function stepped(place: number, limit: number): number {
  const stride = Math.ceil(limit / 2)
  return Math.ceil(place / stride) * stride
}
