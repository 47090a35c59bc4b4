/**
 * What was sent of the beginnings of a conversation, told from what its plan makes of it now. A plan says
 * the same of the same list, so it could be made again of each; but up to the first transform that may
 * have done something else then, it has done what it does now, and only the rest of it is run again.
 */
import type { Item } from '../../core/item.ts'
import { continueTransforms, type PipelineResult } from '../list-and-run-transforms.ts'
import type { AppliedTransform } from '../transform-interface.ts'
import { countChangedItems } from './count-changed-items.ts'

export interface PrefixHistory {
  /** What would be sent of so many items from the beginning; `null` if all would be different. */
  readonly sentOf: (length: number) => readonly Item[] | null
  /** Whether anything from the one place up to the other is touched (`count-changed-items.ts`). */
  readonly isTouched: (from: number, to: number) => boolean
}

export function recomputePrefixes(
  rebuilt: Pick<PipelineResult, 'items' | 'places' | 'stages'>,
): PrefixHistory {
  const { stages } = rebuilt
  const first = stages.findIndex(mayHaveChanged)
  const { items, places } = stages[first] ?? rebuilt
  const rest = first < 0 ? [] : stages.slice(first)
  const transforms = rest.map(({ transform }) => transform)
  let touched: Uint32Array | null = null
  return {
    sentOf(length) {
      // What has no steps adds nothing, and moves nothing.
      const behind = places.findIndex((place) => place !== null && place >= length)
      const end = behind < 0 ? items.length : behind
      const then = { items: items.slice(0, end), notes: [], places: places.slice(0, end) }
      return continueTransforms(then, transforms).items
    },
    isTouched(from, to) {
      touched ??= countChangedItems(stages[0]?.items ?? items, {
        stages: rest,
        places: rebuilt.places,
      })
      return (touched[to] ?? 0) > (touched[from] ?? 0)
    },
  }
}

function mayHaveChanged({ transform: { prefixStability }, notes }: AppliedTransform): boolean {
  return prefixStability === undefined || (prefixStability === 'lasting' && notes.length > 0)
}
