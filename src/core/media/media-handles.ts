/**
 * Lists the media of a conversation and assigns each a short handle by which a model can request it:
 * `media_1`, `media_2`, … in the order of first appearance. Handles depend only on the list, so every
 * replica and every later turn assigns the same ones.
 */
import { createMediaIdentityMap, type MediaIdentityMap } from './media-identity-map.ts'
import type { Item, Part } from '../item.ts'
import { cachePerObject } from '../caching/cache-per-object.ts'
import { findMarkdownImages } from './find-markdown-images.ts'
import { createImageMedia, readPartMedia, type PartMedia } from './content-part-media.ts'

/** A medium and its position in a list of items. */
export interface PositionedMedia extends PartMedia {
  /** Index of its item. */
  readonly at: number
  /** The content part; an image in the assistant's Markdown is converted to an image part. */
  readonly part: Part
}

export type MediaHandles = Pick<MediaIdentityMap<string>, 'get'>

/** Lists all media in order, repeated ones included. */
export function listMedia(items: readonly Item[]): readonly PositionedMedia[] {
  const media: PositionedMedia[] = []
  for (const [at, item] of items.entries()) {
    const isAssistant = item.type === 'message' && item.role === 'assistant'
    for (const part of listContentParts(item)) {
      const medium = readPartMedia(part)
      if (medium !== null) media.push({ ...medium, at, part })
      if (!isAssistant || part.type !== 'output_text') continue
      for (const url of findMarkdownImages(part.text)) {
        media.push({ ...createImageMedia(url), at, part: { type: 'input_image', image_url: url } })
      }
    }
  }
  return media
}

/** Maps identities to handles. Cached per list, because several transforms need the handles of one list. */
export const assignMediaHandles = cachePerObject((items: readonly Item[]): MediaHandles => {
  const handles = createMediaIdentityMap<string>()
  let count = 0
  for (const { identity } of listMedia(items)) {
    if (handles.get(identity) !== undefined) continue
    count += 1
    handles.set(identity, `media_${count}`)
  }
  return handles
})

/** Finds the part of a handle; null if `items` has no such handle or `reachableItems` lacks the medium. */
export function findMediaByHandle(
  items: readonly Item[],
  handle: string,
  reachableItems: readonly Item[] = items,
): Part | null {
  const handles = assignMediaHandles(items)
  const medium = listMedia(reachableItems).find(({ identity }) => handles.get(identity) === handle)
  return medium?.part ?? null
}

/** Returns the parts of a message or tool output; an empty list for plain text and other items. */
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
