/**
 * What of a client's news is kept with a turn that it did not ask to have stored. Its words and the
 * outputs of its tools are, by which the turn is known again; its pictures and files, which it sends
 * again with every request, only by name.
 */
import type { Item } from '../../core/item.ts'
import { fingerprintMedia, createFingerprintPart } from '../../core/media/media-fingerprint.ts'

export function replaceMediaByFingerprint(items: readonly Item[]): readonly Item[] {
  return items.map((item) => {
    if (item.type !== 'message' || item.content.every((part) => fingerprintMedia(part) === ''))
      return item
    const content = item.content.map((part) =>
      fingerprintMedia(part) === '' ? part : createFingerprintPart(part),
    )
    return { ...item, content }
  })
}
