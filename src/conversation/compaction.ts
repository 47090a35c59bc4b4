/**
 * A `compaction` item stands for all that was said before it. What is in it, only its maker can
 * read; of ours that is a summary in words. This is the one file that packs and unpacks it.
 */
import { textOf, type Item, type Message, type Opaque } from './item.ts'
import { isObject } from './json.ts'

/** The item as clients know it: opaque to them, to be sent back as it is. */
export function compactionItem(id: string, summary: string): Opaque {
  return { type: 'opaque', raw: { id, type: 'compaction', encrypted_content: packed(summary) } }
}

export function isCompaction(item: Item): item is Opaque {
  return item.type === 'opaque' && item.raw['type'] === 'compaction'
}

/** Asks for a compaction, as the last item of an input. */
export function isCompactionTrigger(item: Item | undefined): item is Opaque {
  return item?.type === 'opaque' && item.raw['type'] === 'compaction_trigger'
}

/** `null` for what somebody else made, and for what is not as we made it. */
export function summaryIn({ raw }: Opaque): string | null {
  const sealed = raw['encrypted_content']
  return typeof sealed === 'string' && sealed.startsWith(PREFIX) ? unpacked(sealed) : null
}

export function isOurs({ raw }: Opaque): boolean {
  const sealed = raw['encrypted_content']
  return typeof sealed === 'string' && sealed.startsWith(PREFIX)
}

/** What a model is given in place of the item. A client cannot say this of an item, so it is ours. */
export function summaryMessage(summary: string): Message {
  return {
    type: 'message',
    role: 'developer',
    content: [{ type: 'input_text', text: HEADER + summary }],
    native: { backstory: { compaction: true } },
  }
}

export function isSummaryMessage(item: Item): boolean {
  return item.native?.['backstory']?.['compaction'] === true
}

/** The summary alone, without the words that go with it. */
export function toldSummary({ content }: Message): string {
  return textOf(content).slice(HEADER.length)
}

const HEADER =
  '[Summary of the conversation so far. It replaces what was said and done before this point, except the messages of the user. Go on from here.]\n\n'

const PREFIX = 'backstory:'

/** Later the JSON may be sealed with a key instead; the version tells. */
function packed(summary: string): string {
  return PREFIX + toBase64(JSON.stringify({ v: 1, summary }))
}

function unpacked(sealed: string): string | null {
  try {
    const json: unknown = JSON.parse(fromBase64(sealed.slice(PREFIX.length)))
    if (!isObject(json) || json['v'] !== 1) return null
    return typeof json['summary'] === 'string' ? json['summary'] : null
  } catch {
    return null
  }
}

/** So many arguments a function may have without a thought. */
const SLICE = 8192

function toBase64(text: string): string {
  const bytes = new TextEncoder().encode(text)
  let binary = ''
  for (let at = 0; at < bytes.length; at += SLICE) {
    binary += String.fromCharCode(...bytes.subarray(at, at + SLICE))
  }
  return btoa(binary)
}

function fromBase64(base64: string): string {
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
}
