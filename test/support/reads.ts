/** Work that is counted, because how long it takes is another's business: what of a list is read. */
import { expect } from 'vitest'
import type { Item } from '../../src/core/item.ts'

/** Of twice as many items twice as much is read, and not four times. */
export function expectLinear(
  count: number,
  make: (count: number) => readonly Item[],
  run: (items: readonly Item[]) => unknown,
): void {
  const [few, many] = [readsOf(make(count), run), readsOf(make(2 * count), run)]
  expect(few).toBeGreaterThan(count)
  expect(many).toBeLessThan(2.5 * few)
}

/** How often anything of the items is read. */
export function readsOf(items: readonly Item[], run: (items: readonly Item[]) => unknown): number {
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
