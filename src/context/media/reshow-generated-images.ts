/**
 * Shows a model the images of its own last answer, where a question without any follows: what it wrote
 * as Markdown it has never seen. A notice in front says whose they are.
 *
 * What is added to a question is told from what stands before it, and for each question, not only for
 * the newest: so it is sent again like that with every later turn. An image that the conversation has
 * shown before is not added, or it would wander with every answer that mentions it.
 */
import {
  createMediaIdentityMap,
  type MediaIdentityMap,
} from '../../core/media/media-identity-map.ts'
import { readNoticeMediaIdentities } from '../../core/text/gateway-notice.ts'
import { textOf, type Item, type Message, type Part } from '../../core/item.ts'
import { assignMediaHandles, listContentParts } from '../../core/media/media-handles.ts'
import { findMarkdownImages } from '../../core/media/find-markdown-images.ts'
import { createReusedImageNotice } from '../../core/media/media-notices.ts'
import { readPartMedia } from '../../core/media/content-part-media.ts'
import type { Note } from '../../core/note.ts'
import { ITEM_TRAITS } from '../scan-items.ts'
import type { Transform } from '../transform-interface.ts'
import { replaceContentParts } from '../../core/items/replace-content-parts.ts'

export interface ImageReuseOptions {
  /** So many at most with one question, the last ones of the answer. */
  readonly images: number
  /** The whole conversation, if that is more than the list; handles are counted in it. */
  readonly conversation?: readonly Item[]
}

export function reshowGeneratedImages({ images, conversation }: ImageReuseOptions): Transform {
  return {
    name: 'reuse-images',
    needs: ITEM_TRAITS.markdownImage,
    prefixStability: 'none',
    run(items) {
      const reused = reusedIn(items, images)
      const notes: Note[] = []
      if (reused.size === 0) return { items, notes }
      const handles = assignMediaHandles(conversation ?? items)
      const rebuilt = items.map((item, at) => {
        const urls = reused.get(at)
        if (urls === undefined) return item
        notes.push({ did: 'changed', at, why: 'images-reused' })
        const shown = urls.map((image_url): Part => ({ type: 'input_image', image_url }))
        return replaceContentParts(item, [
          createReusedImageNotice(urls, handles),
          ...shown,
          ...listContentParts(item),
        ])
      })
      return { items: rebuilt, notes }
    },
  }
}

/** What is to be added to which question. */
function reusedIn(items: readonly Item[], most: number): ReadonlyMap<number, readonly string[]> {
  const reused = new Map<number, readonly string[]>()
  // A look that most conversations pass.
  if (most === 0 || !items.some(mayHoldImages)) return reused
  const shown = createMediaIdentityMap<true>()
  let answer: Message | null = null
  for (const [at, item] of items.entries()) {
    for (const identity of identitiesIn(item)) shown.set(identity, true)
    if (item.type !== 'message') continue
    if (item.role === 'assistant') answer = item
    if (item.role !== 'user') continue
    const urls: readonly string[] =
      answer === null || hasImage(item) ? [] : newestImages(answer, shown, most)
    if (urls.length > 0) reused.set(at, urls)
    for (const url of urls) shown.set(url, true)
    answer = null
  }
  return reused
}

function mayHoldImages(item: Item): boolean {
  return item.type === 'message' && item.role === 'assistant' && textOf(item.content).includes('![')
}

function newestImages(
  { content }: Message,
  shown: MediaIdentityMap<true>,
  most: number,
): readonly string[] {
  const urls = new Set(
    findMarkdownImages(textOf(content)).filter((url) => shown.get(url) === undefined),
  )
  return [...urls].slice(-most)
}

/** Or has had one before its place was taken by a notice. */
function hasImage({ content }: Message): boolean {
  return content.some(
    (part) => readNoticeMediaIdentities(part) !== null || readPartMedia(part)?.kind === 'image',
  )
}

function identitiesIn(item: Item): readonly string[] {
  return listContentParts(item).flatMap(
    (part) => readNoticeMediaIdentities(part) ?? readPartMedia(part)?.identity ?? [],
  )
}
