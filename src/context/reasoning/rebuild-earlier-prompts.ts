/**
 * Rebuilds the prompts of earlier, shorter versions of a conversation, by running its transforms again on the
 * shorter list. The first transforms, which have the same effect on each prefix, are skipped: the rerun starts
 * at the first transform that may have acted differently.
 */
import type { Item } from '../../core/item.ts'
import { continueTransforms, type PipelineResult } from '../list-and-run-transforms.ts'
import type { AppliedTransform } from '../transform-interface.ts'
import { countChangedItemsBefore } from './count-changed-items.ts'

export interface EarlierPrompts {
  /** Returns the prompt for the first `length` items; `null` if the request differed in other ways. */
  readonly promptAt: (length: number) => readonly Item[] | null
  /** True if a transform may have treated an item between the indexes differently before (`count-changed-items.ts`). */
  readonly isTouched: (from: number, to: number) => boolean
}

export function rebuildEarlierPrompts(
  result: Pick<PipelineResult, 'items' | 'places' | 'stages'>,
): EarlierPrompts {
  const { stages } = result
  const first = stages.findIndex(mayHaveChanged)
  const { items, places } = stages[first] ?? result
  const rest = first < 0 ? [] : stages.slice(first)
  const transforms = rest.map(({ transform }) => transform)
  let touched: Uint32Array | null = null
  return {
    promptAt(length) {
      // The skipped transforms neither add nor move items, so the prefix ends at the next later item.
      const next = places.findIndex((place) => place !== null && place >= length)
      const end = next < 0 ? items.length : next
      const prefix = { items: items.slice(0, end), notes: [], places: places.slice(0, end) }
      return continueTransforms(prefix, transforms).items
    },
    isTouched(from, to) {
      touched ??= countChangedItemsBefore(stages[0]?.items ?? items, {
        stages: rest,
        places: result.places,
      })
      return (touched[to] ?? 0) > (touched[from] ?? 0)
    },
  }
}

function mayHaveChanged({ transform: { prefixStability }, notes }: AppliedTransform): boolean {
  return prefixStability === undefined || (prefixStability === 'lasting' && notes.length > 0)
}
