/**
 * What happens to a conversation at a client: items are lost, moved, doubled, made illegible, and a
 * pair that was recorded comes back beside the one that was kept.
 */
import fc, { type Arbitrary } from 'fast-check'
import type { Item } from '../../src/core/item.ts'
import { UNPAIRED, findToolCallPairs } from '../../src/core/items/tool-call-pairs.ts'

export type Mishap = (items: readonly Item[]) => readonly Item[]

export function mishap(): Arbitrary<Mishap> {
  const place = fc.nat({ max: 10_000 })
  const places = fc.tuple(place, place)
  return fc.oneof(
    {
      weight: 4,
      arbitrary: place.map(
        (from): Mishap =>
          (items) =>
            without(items, from),
      ),
    },
    {
      weight: 3,
      arbitrary: places.map(
        ([from, to]): Mishap =>
          (items) =>
            inserted(without(items, from), to, picked(items, from)),
      ),
    },
    {
      weight: 1,
      arbitrary: places.map(
        ([from, to]): Mishap =>
          (items) =>
            inserted(
              items,
              to,
              picked(items, from).map((item) => copyOf(item)),
            ),
      ),
    },
    {
      weight: 1,
      arbitrary: place.map(
        (from): Mishap =>
          (items) =>
            inserted(without(items, from), from, picked(items, from).map(withoutName)),
      ),
    },
    {
      weight: 2,
      arbitrary: places.map(
        ([from, to]): Mishap =>
          (items) =>
            inserted(items, to, recordedPair(items, from % (items.length + 1))),
      ),
    },
  )
}

/** The pair that an item is an end of, as it comes from the store. */
function recordedPair(items: readonly Item[], at: number): readonly Item[] {
  const [call, output] = [at, findToolCallPairs(items)[at] ?? UNPAIRED].toSorted((a, b) => a - b)
  const ends = [items[call ?? UNPAIRED], items[output ?? UNPAIRED]]
  return ends.flatMap((end, place) => {
    if (end === undefined) return []
    return place === 0 ? [{ ...copyOf(end), origin: ORIGIN }] : [copyOf(end)]
  })
}

/** What a client says of an item, it says of its own. */
function copyOf(item: Item): Item {
  if (item.native?.['backstory'] === undefined) return { ...item }
  const { backstory: _, ...native } = item.native
  return { ...item, native }
}

const ORIGIN = { wire: 'responses', account: 'a', model: 'm', prefixHash: null }

function picked(items: readonly Item[], place: number): readonly Item[] {
  return items.slice(place % items.length).slice(0, 1)
}

function without(items: readonly Item[], place: number): readonly Item[] {
  return items.filter((_, at) => at !== place % items.length)
}

function inserted(items: readonly Item[], place: number, more: readonly Item[]): readonly Item[] {
  return items.toSpliced(place % (items.length + 1), 0, ...more)
}

function withoutName(item: Item): Item {
  return item.type === 'function_call' ? { ...item, name: '' } : item
}
