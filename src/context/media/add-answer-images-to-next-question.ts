/**
 * Adds the Markdown images of an answer to the next question, if the question has no images of its own. Otherwise the
 * model would not see these images: it has written only their URLs. A notice before the images explains where they come
 * from.
 *
 * Images are added to each question, not only to the latest. Which images are added depends only on earlier items, so
 * later requests send the same images again. An image that the conversation already contains is not added: otherwise
 * each answer that mentions an image would add it again.
 */
import { createMapKeyedByMedia, type MapKeyedByMedia } from '../../core/media/map-keyed-by-media.ts'
import { readNoticeMediaIdentities } from '../../core/text/gateway-notice.ts'
import { textOf, type Item, type Message, type Part } from '../../core/item.ts'
import { assignMediaHandles, listContentParts } from '../../core/media/media-handles.ts'
import { findMarkdownImages } from '../../core/media/find-markdown-images.ts'
import { createReusedImageNotice } from '../../core/media/media-notices.ts'
import { readPartMedia } from '../../core/media/content-part-media.ts'
import { replaceItems } from '../edit-items.ts'
import { ITEM_TRAITS } from '../detect-item-traits.ts'
import type { Transform } from '../transform-interface.ts'
import { replaceContentParts } from '../../core/items/replace-content-parts.ts'

export interface ImageReuseOptions {
  /** Max number of images added to one question. If an answer has more, only the last ones are added. */
  readonly maxImages: number
  /**
   * The complete conversation, if the transform runs on only a part of it. Media handles, e.g. `media_3`, are numbered
   * over the complete conversation.
   */
  readonly conversation?: readonly Item[] | undefined
}

export function addAnswerImagesToNextQuestion({
  maxImages,
  conversation,
}: ImageReuseOptions): Transform {
  return {
    name: 'reuse-images',
    requiredTraits: ITEM_TRAITS.markdownImage,
    prefixChanges: 'never',
    run(items) {
      const urlsByItem = findReusedImages(items, maxImages)
      if (urlsByItem.size === 0) return { items, notes: [] }
      const handles = assignMediaHandles(conversation ?? items)
      const addImages = (item: Item, index: number): Item => {
        const urls = urlsByItem.get(index)
        if (urls === undefined) return item
        const images = urls.map((image_url): Part => ({ type: 'input_image', image_url }))
        const notice = createReusedImageNotice(urls, handles)
        return replaceContentParts(item, [notice, ...images, ...listContentParts(item)])
      }
      return replaceItems(items, addImages, 'images-reused')
    },
  }
}

/** Returns the URLs of the answer's images that are added to each question, by the index of the question. */
function findReusedImages(
  items: readonly Item[],
  max: number,
): ReadonlyMap<number, readonly string[]> {
  const reused = new Map<number, readonly string[]>()
  // Most conversations have no Markdown images. Returning early saves them reading the identities of all media.
  if (max === 0 || !items.some(mayContainImages)) return reused
  const shown = createMapKeyedByMedia<true>()
  let answer: Message | null = null
  for (const [index, item] of items.entries()) {
    for (const identity of listIdentities(item)) shown.set(identity, true)
    if (item.type !== 'message') continue
    if (item.role === 'assistant') answer = item
    if (item.role !== 'user') continue
    const urls: readonly string[] =
      answer === null || hasImage(item) ? [] : listLastImages(answer, shown, max)
    if (urls.length > 0) reused.set(index, urls)
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
  shown: MapKeyedByMedia<true>,
  max: number,
): readonly string[] {
  const urls = new Set(
    findMarkdownImages(textOf(content)).filter((url) => shown.get(url) === undefined),
  )
  return [...urls].slice(-max)
}

/** True if the question has an image of its own, or a notice in the place of hidden media. */
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
