/**
 * Random damage to a conversation at a client: items are lost, moved, duplicated or lose their name, and a
 * recorded call pair is inserted again beside the client's own.
 */
import fc, { type Arbitrary } from 'fast-check'
import type { Item } from '../../src/core/item.ts'
import { UNPAIRED, findToolCallPairs } from '../../src/core/items/tool-call-pairs.ts'

export type ItemDamage = (items: readonly Item[]) => readonly Item[]

export function anyItemDamage(): Arbitrary<ItemDamage> {
  const place = fc.nat({ max: 10_000 })
  const places = fc.tuple(place, place)
  return fc.oneof(
    {
      weight: 4,
      arbitrary: place.map(
        (from): ItemDamage =>
          (items) =>
            removeAt(items, from),
      ),
    },
    {
      weight: 3,
      arbitrary: places.map(
        ([from, to]): ItemDamage =>
          (items) =>
            insertAt(removeAt(items, from), to, pick(items, from)),
      ),
    },
    {
      weight: 1,
      arbitrary: places.map(
        ([from, to]): ItemDamage =>
          (items) =>
            insertAt(
              items,
              to,
              pick(items, from).map((item) => copyOf(item)),
            ),
      ),
    },
    {
      weight: 1,
      arbitrary: place.map(
        (from): ItemDamage =>
          (items) =>
            insertAt(removeAt(items, from), from, pick(items, from).map(withoutName)),
      ),
    },
    {
      weight: 2,
      arbitrary: places.map(
        ([from, to]): ItemDamage =>
          (items) =>
            insertAt(items, to, recordedPair(items, from % (items.length + 1))),
      ),
    },
  )
}

/** Returns the call and the output that belong to an item, as they come from the store. */
function recordedPair(items: readonly Item[], at: number): readonly Item[] {
  const [call, output] = [at, findToolCallPairs(items)[at] ?? UNPAIRED].toSorted((a, b) => a - b)
  const ends = [items[call ?? UNPAIRED], items[output ?? UNPAIRED]]
  return ends.flatMap((end, place) => {
    if (end === undefined) return []
    return place === 0 ? [{ ...copyOf(end), origin: ORIGIN }] : [copyOf(end)]
  })
}

/** Copies an item without the gateway fields of the client's own item. */
function copyOf(item: Item): Item {
  if (item.native?.['backstory'] === undefined) return { ...item }
  const { backstory: _, ...native } = item.native
  return { ...item, native }
}

const ORIGIN = { wire: 'responses', account: 'a', model: 'm', prefixHash: null }

function pick(items: readonly Item[], place: number): readonly Item[] {
  return items.slice(place % items.length).slice(0, 1)
}

function removeAt(items: readonly Item[], place: number): readonly Item[] {
  return items.filter((_, at) => at !== place % items.length)
}

function insertAt(items: readonly Item[], place: number, more: readonly Item[]): readonly Item[] {
  return items.toSpliced(place % (items.length + 1), 0, ...more)
}

function withoutName(item: Item): Item {
  return item.type === 'function_call' ? { ...item, name: '' } : item
}
