/**
 * Lists the media URLs that the gateway has to load because the upstream does not, latest first.
 */
import type { Item } from '../../core/item.ts'
import { listContentParts } from '../../core/media/media-handles.ts'
import type { UpstreamMediaUrlsAndLimits } from '../resolve-upstream-media-urls-and-limits.ts'
import { findRemoteMedia, type RemoteMediaKind } from '../find-and-embed-remote-media.ts'

export type MediaUrlsToLoad = ReadonlyMap<string, RemoteMediaKind>

export function listMediaUrlsToLoad(
  items: readonly Item[],
  { loadsUrl }: UpstreamMediaUrlsAndLimits,
): MediaUrlsToLoad {
  const urlsToLoad = new Map<string, RemoteMediaKind>()
  for (const item of items.toReversed()) {
    for (const part of listContentParts(item).toReversed()) {
      const medium = findRemoteMedia(part)
      if (medium !== null && !loadsUrl(part, medium.url)) urlsToLoad.set(medium.url, medium.kind)
    }
  }
  return urlsToLoad
}

/** True if any part refers to media by URL. */
export function hasRemoteMedia(items: readonly Item[]): boolean {
  return items.some((item) => listContentParts(item).some((part) => findRemoteMedia(part) !== null))
}
