/**
 * Short names for the media of a conversation, by which a model can ask for one: `media_1`,
 * `media_2`, … in the order in which each came for the first time. They are told from the whole list
 * alone, so every replica and every later turn gives the same medium the same name.
 */
import { createMediaIdentityMap, type MediaIdentityMap } from './media-identity-map.ts'
import type { Item, Part } from '../item.ts'
import { cachePerObject } from '../caching/cache-per-object.ts'
import { findMarkdownImages } from './find-markdown-images.ts'
import { createImageMedia, readPartMedia, type PartMedia } from './content-part-media.ts'

/** A medium where it stands. */
export interface PositionedMedia extends PartMedia {
  /** The place of its item in the list. */
  readonly at: number
  /** It or, for an image that an assistant has written as Markdown, what it would be as a part. */
  readonly part: Part
}

export type MediaHandles = Pick<MediaIdentityMap<string>, 'get'>

/** Every medium wherever it stands, in order. */
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

/** By identity. A list is asked about several times over, by each that tells of media. */
export const assignMediaHandles = cachePerObject(countedIn)

function countedIn(items: readonly Item[]): MediaHandles {
  const handles = createMediaIdentityMap<string>()
  let count = 0
  for (const { identity } of listMedia(items)) {
    if (handles.get(identity) !== undefined) continue
    count += 1
    handles.set(identity, `media_${count}`)
  }
  return handles
}

/**
 * What a handle stands for; `null` if it stands for nothing in this conversation, or for nothing of
 * what is within reach.
 */
export function findMediaByHandle(
  items: readonly Item[],
  handle: string,
  withinReach: readonly Item[] = items,
): Part | null {
  const named = assignMediaHandles(items)
  return listMedia(withinReach).find(({ identity }) => named.get(identity) === handle)?.part ?? null
}

/** What a message or the output of a tool consists of, if it consists of parts. */
export function listContentParts(item: Item): readonly Part[] {
  switch (item.type) {
    case 'message':
      return item.content
    case 'function_call_output':
    case 'custom_tool_call_output':
      return typeof item.output === 'string' ? NONE : item.output
    case 'function_call':
    case 'custom_tool_call':
    case 'reasoning':
    case 'opaque':
      return NONE
  }
}

const NONE: readonly Part[] = []
