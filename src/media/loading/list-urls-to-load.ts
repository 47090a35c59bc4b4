/** Which media have to be loaded before an upstream can be asked, the newest first. */
import type { Item } from '../../core/item.ts'
import { partsOf } from '../../core/media/media-handles.ts'
import type { MediaReader } from '../resolve-upstream-media-support.ts'
import { remoteMedium, type MediumKind } from '../find-and-embed-remote-media.ts'

export type LoadingPlan = ReadonlyMap<string, MediumKind>

export function planLoading(items: readonly Item[], { loads }: MediaReader): LoadingPlan {
  const plan = new Map<string, MediumKind>()
  for (const item of items.toReversed()) {
    for (const part of partsOf(item).toReversed()) {
      const medium = remoteMedium(part)
      if (medium !== null && !loads(part, medium.url)) plan.set(medium.url, medium.kind)
    }
  }
  return plan
}

/** Whether there is any medium that is named by an address. */
export function namesMedia(items: readonly Item[]): boolean {
  return items.some((item) => partsOf(item).some((part) => remoteMedium(part) !== null))
}
