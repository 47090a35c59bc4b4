/**
 * Adds the Markdown images of an answer to the next question, if that has no images of its own: the model
 * has written only their URLs and never seen the images. A notice before them explains where they come from.
 *
 * The addition depends only on earlier items and applies to each question, not only to the latest, so that
 * later requests repeat it. An image that the conversation has shown before is not added again; otherwise
 * it would be added after every answer that mentions it.
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
  /** Max number of images added to each question; the last images of the answer are taken. */
  readonly images: number
  /** The complete conversation, if the list is a part of it; handles are numbered over all of it. */
  readonly conversation?: readonly Item[]
}

export function reshowGeneratedImages({ images, conversation }: ImageReuseOptions): Transform {
  return {
    name: 'reuse-images',
    needs: ITEM_TRAITS.markdownImage,
    prefixStability: 'none',
    run(items) {
      const urlsByItem = findReusedImages(items, images)
      const notes: Note[] = []
      if (urlsByItem.size === 0) return { items, notes }
      const handles = assignMediaHandles(conversation ?? items)
      const rebuilt = items.map((item, at) => {
        const urls = urlsByItem.get(at)
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

/** Returns the image URLs to add, by the index of the question. */
function findReusedImages(
  items: readonly Item[],
  max: number,
): ReadonlyMap<number, readonly string[]> {
  const reused = new Map<number, readonly string[]>()
  // Most conversations have no images, which is cheap to check.
  if (max === 0 || !items.some(mayContainImages)) return reused
  const shown = createMediaIdentityMap<true>()
  let answer: Message | null = null
  for (const [at, item] of items.entries()) {
    for (const identity of listIdentities(item)) shown.set(identity, true)
    if (item.type !== 'message') continue
    if (item.role === 'assistant') answer = item
    if (item.role !== 'user') continue
    const urls: readonly string[] =
      answer === null || hasImage(item) ? [] : listLastImages(answer, shown, max)
    if (urls.length > 0) reused.set(at, urls)
    for (const url of urls) shown.set(url, true)
    answer = null
  }
  return reused
}

function mayContainImages(item: Item): boolean {
  return item.type === 'message' && item.role === 'assistant' && textOf(item.content).includes('![')
}

function listLastImages(
  { content }: Message,
  shown: MediaIdentityMap<true>,
  max: number,
): readonly string[] {
  const urls = new Set(
    findMarkdownImages(textOf(content)).filter((url) => shown.get(url) === undefined),
  )
  return [...urls].slice(-max)
}

/** True if the message has an image. A notice counts as the image that it replaced. */
function hasImage({ content }: Message): boolean {
  return content.some(
    (part) => readNoticeMediaIdentities(part) !== null || readPartMedia(part)?.kind === 'image',
  )
}

function listIdentities(item: Item): readonly string[] {
  return listContentParts(item).flatMap(
    (part) => readNoticeMediaIdentities(part) ?? readPartMedia(part)?.identity ?? [],
  )
}
