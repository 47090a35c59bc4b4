/** Random choices that a seed repeats. */

export interface Random {
  /** Returns a number from 0 up to, but not including, 1. */
  readonly fraction: () => number
  /** Returns a whole number from 0 up to, but not including, `end`. */
  readonly below: (end: number) => number
  readonly pick: <Value>(values: readonly Value[]) => Value
  readonly bytes: (length: number) => Buffer
}

/** The generator mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (end: number): number => Math.floor(fraction() * end)
  return {
    fraction,
    below,
    pick: (values) => values[below(values.length)] as (typeof values)[number],
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
  }
}
