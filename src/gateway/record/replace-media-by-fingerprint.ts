/**
 * Replaces images and files in messages by fingerprints, in a turn that the client did not ask to store. Its input is
 * only compared with later chats, in which the client sends the media again.
 */
import type { Item } from '../../core/item.ts'
import { sampleMedia, createFingerprintPart } from '../../core/media/sample-media.ts'

export function replaceMediaByFingerprint(items: readonly Item[]): readonly Item[] {
  return items.map((item) => {
    if (item.type !== 'message' || item.content.every((part) => sampleMedia(part) === ''))
      return item
    const content = item.content.map((part) =>
      sampleMedia(part) === '' ? part : createFingerprintPart(part),
    )
    return { ...item, content }
  })
}
