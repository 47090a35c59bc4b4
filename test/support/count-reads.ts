/**
 * Counts property reads of items, to test that work grows linearly; time measurements would depend on the
 * machine.
 */
import { expect } from 'vitest'
import type { Item } from '../../src/core/item.ts'

/** Checks that twice as many items need about twice as many reads, not four times. */
export function expectLinear(
  count: number,
  make: (count: number) => readonly Item[],
  run: (items: readonly Item[]) => unknown,
): void {
  const [few, many] = [
    countPropertyReads(make(count), run),
    countPropertyReads(make(2 * count), run),
  ]
  expect(few).toBeGreaterThan(count)
  expect(many).toBeLessThan(2.5 * few)
}

/** Counts the property reads of all items during `run`. */
export function countPropertyReads(
  items: readonly Item[],
  run: (items: readonly Item[]) => unknown,
): number {
  let reads = 0
  const counting: ProxyHandler<Item> = {
    get(item, field) {
      reads += 1
      return Reflect.get(item, field) as unknown
    },
  }
  run(items.map((item) => new Proxy(item, counting)))
  return reads
}
