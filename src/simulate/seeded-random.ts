/**
 * Random generator (sfc32) that returns the same sequence of numbers for the same seed, in every
 * run and on every machine.
 */
export interface SeededRandom {
  /** Returns a number that is at least 0 and less than 1. */
  readonly next: () => number
  /** Returns a normally distributed number with the mean 0 and the standard deviation 1. */
  readonly nextNormal: () => number
  readonly pickOne: <Value>(values: readonly [Value, ...Value[]]) => Value
}

export function createSeededRandom(seed: number): SeededRandom {
  const next = sfc32(seed)
  // The first 16 numbers of neighboring seeds, e.g. 1 and 2, are similar, so they are skipped.
  for (let round = 0; round < 16; round += 1) next()
  return {
    next,
    nextNormal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    pickOne: (values) => values[Math.floor(next() * values.length)] ?? values[0],
  }
}

function sfc32(seed: number): () => number {
  let [a, b, c, counter] = [seed | 0, 0x9e3779b9 | 0, 0x243f6a88 | 0, 1]
  return () => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    c |= 0
    return (sum >>> 0) / 2 ** 32
  }
}
