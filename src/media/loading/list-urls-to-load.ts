/** Which media have to be loaded before an upstream can be asked, the newest first. */
import type { Item } from '../../core/item.ts'
import { listContentParts } from '../../core/media/media-handles.ts'
import type { UpstreamMediaSupport } from '../resolve-upstream-media-support.ts'
import { findRemoteMedia, type RemoteMediaKind } from '../find-and-embed-remote-media.ts'

export type MediaUrlsToLoad = ReadonlyMap<string, RemoteMediaKind>

export function listMediaUrlsToLoad(
  items: readonly Item[],
  { loadsUrl }: UpstreamMediaSupport,
): MediaUrlsToLoad {
  const plan = new Map<string, RemoteMediaKind>()
  for (const item of items.toReversed()) {
    for (const part of listContentParts(item).toReversed()) {
      const medium = findRemoteMedia(part)
      if (medium !== null && !loadsUrl(part, medium.url)) plan.set(medium.url, medium.kind)
    }
  }
  return plan
}

/** Whether there is any medium that is named by an address. */
export function hasRemoteMedia(items: readonly Item[]): boolean {
  return items.some((item) => listContentParts(item).some((part) => findRemoteMedia(part) !== null))
}
