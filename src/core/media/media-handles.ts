/**
 * Lists the media of a conversation and assigns each a handle by which a model can request it: `media_1`,
 * `media_2`, … in the order of first appearance. Handles depend only on the items, so every replica
 * assigns the same handles, and they stay the same when items are appended.
 */
import { createMapKeyedByMedia, type MapKeyedByMedia } from './map-keyed-by-media.ts'
import type { Item, Part } from '../item.ts'
import { cachePerObject } from '../caching/cache-per-object.ts'
import { findMarkdownImages } from './find-markdown-images.ts'
import { createImageMedia, readPartMedia, type PartMedia } from './content-part-media.ts'

/** A medium (an image, recording, video or file) and the item that contains it. */
export interface PositionedMedia extends PartMedia {
  readonly itemIndex: number
  /** The content part with the medium. For an image in the assistant's Markdown, a part is created. */
  readonly part: Part
}

export type MediaHandles = Pick<MapKeyedByMedia<string>, 'get'>

/** Lists the media of all items in order, repeated ones included. */
export function listMedia(items: readonly Item[]): readonly PositionedMedia[] {
  const media: PositionedMedia[] = []
  for (const [at, item] of items.entries()) {
    const isAssistant = item.type === 'message' && item.role === 'assistant'
    for (const part of listContentParts(item)) {
      const medium = readPartMedia(part)
      if (medium !== null) media.push({ ...medium, itemIndex: at, part })
      if (!isAssistant || part.type !== 'output_text') continue
      for (const url of findMarkdownImages(part.text)) {
        media.push({
          ...createImageMedia(url),
          itemIndex: at,
          part: { type: 'input_image', image_url: url },
        })
      }
    }
  }
  return media
}

/** Returns the handle of each medium by its identity. Cached per list, because several transforms need the same handles. */
export const assignMediaHandles = cachePerObject((items: readonly Item[]): MediaHandles => {
  const handles = createMapKeyedByMedia<string>()
  let count = 0
  for (const { identity } of listMedia(items)) {
    if (handles.get(identity) !== undefined) continue
    count += 1
    handles.set(identity, `media_${count}`)
  }
  return handles
})

/**
 * Returns the content part of the medium with a handle; null if `items` has no such handle, or if the
 * medium is not in `reachableItems`.
 */
export function findMediaByHandle(
  items: readonly Item[],
  handle: string,
  reachableItems: readonly Item[] = items,
): Part | null {
  const handles = assignMediaHandles(items)
  const medium = listMedia(reachableItems).find(({ identity }) => handles.get(identity) === handle)
  return medium?.part ?? null
}

/** Returns the content parts of a message or tool output; an empty list for other items and for plain text. */
export function listContentParts(item: Item): readonly Part[] {
  switch (item.type) {
    case 'message':
      return item.content
    case 'function_call_output':
    case 'custom_tool_call_output':
      return typeof item.output === 'string' ? NO_PARTS : item.output
    case 'function_call':
    case 'custom_tool_call':
    case 'reasoning':
    case 'opaque':
      return NO_PARTS
  }
}

const NO_PARTS: readonly Part[] = []
