/**
 * What of a client's news is kept with a turn that it did not ask to have stored. Its words and the
 * outputs of its tools are, by which the turn is known again; its pictures and files, which it sends
 * again with every request, only by their digests.
 */
import type { Item, Part } from '../conversation/item.ts'
import { digest } from '../digest.ts'

export function rememberedInput(items: readonly Item[]): readonly Item[] {
  return items.map((item) => {
    if (item.type !== 'message' || item.content.every(isText)) return item
    return { ...item, content: item.content.map(named) }
  })
}

function isText({ type }: Part): boolean {
  return type === 'input_text' || type === 'output_text' || type === 'refusal'
}

function named(part: Part): Part {
  if (isText(part)) return part
  return { type: 'opaque', raw: { type: MEDIA, digest: digest(JSON.stringify(part)) } }
}

const MEDIA = 'backstory:media'
