/**
 * Creates and reads `compaction` items, each of which replaces all items before it. Only its maker can
 * read the content; the gateway's own compactions contain a summary as text.
 */
import { decodeBase64Json, encodeBase64Json } from '../json/base64-json.ts'
import { textOf, type Item, type Message, type OpaqueItem } from '../item.ts'
import { readGatewayField, setGatewayField } from './author-time-and-reset-fields.ts'
import { isObject } from '../json/json.ts'
import { detectEncryptedContentWire } from '../reasoning/detect-encrypted-content-wire.ts'

/** Creates the item that a client stores and sends back unchanged. Later versions may encrypt the JSON. */
export function createCompactionItem(id: string, summary: string): OpaqueItem {
  const content = PREFIX + encodeBase64Json({ v: 1, summary })
  return { type: 'opaque', raw: { id, type: 'compaction', encrypted_content: content } }
}

export function isCompaction(item: Item): item is OpaqueItem {
  return item.type === 'opaque' && item.raw['type'] === 'compaction'
}

/** True for an input item that requests a compaction; it is the last one. */
export function isCompactionTrigger(item: Item | undefined): item is OpaqueItem {
  return item?.type === 'opaque' && item.raw['type'] === 'compaction_trigger'
}

/** Returns the summary, or null if another service made the item or its content was changed. */
export function readGatewayCompaction({ raw }: OpaqueItem): string | null {
  const content = raw['encrypted_content']
  if (typeof content !== 'string' || !content.startsWith(PREFIX)) return null
  const json = decodeBase64Json(content.slice(PREFIX.length))
  if (!isObject(json) || json['v'] !== 1) return null
  return typeof json['summary'] === 'string' ? json['summary'] : null
}

export function isGatewayCompaction({ raw }: OpaqueItem): boolean {
  const content = raw['encrypted_content']
  return typeof content === 'string' && content.startsWith(PREFIX)
}

/**
 * Returns the wire of the upstream that made the item, or null for the gateway's own. Anthropic's
 * compaction that a client sends itself has its text in `content`, unencrypted.
 */
export function readCompactionWire(item: OpaqueItem): string | null {
  if (isGatewayCompaction(item)) return null
  const { encrypted_content: encrypted, content } = item.raw
  if (typeof encrypted === 'string') return detectEncryptedContentWire(encrypted) ?? 'responses'
  return typeof content === 'string' ? 'anthropic' : 'responses'
}

/** False for the compaction of an answer that broke off before the item ended. */
export function isCompleteCompaction({ raw }: OpaqueItem): boolean {
  const { status, encrypted_content: encrypted, content } = raw
  if (status === 'incomplete' || status === 'in_progress') return false
  return [encrypted, content].some((text) => typeof text === 'string' && text !== '')
}

/** True if an upstream made the item rather than the gateway. */
export function isUpstreamCompaction(item: Item): item is OpaqueItem {
  return isCompaction(item) && !isGatewayCompaction(item)
}

/** Records that the compaction was made without the messages of these authors. */
export function setHiddenAuthors(item: OpaqueItem, hidden: readonly string[]): OpaqueItem {
  return setGatewayField(item, { without: hidden })
}

/** Returns the recorded authors. Trustworthy: a client cannot set this field. */
export function readHiddenAuthors(item: OpaqueItem): readonly unknown[] {
  const hidden = readGatewayField(item)?.['without']
  return Array.isArray(hidden) ? hidden : []
}

/** True if the item also replaces user messages. Its upstream reads only the leading instructions before it. */
export function replacesUserMessages(item: Item): boolean {
  return isCompaction(item) && readCompactionWire(item) === 'anthropic'
}

/** Creates the message that a model is sent instead of the gateway's compaction item. */
export function createCompactionMessage(summary: string): Message {
  return {
    type: 'message',
    role: 'developer',
    content: [{ type: 'input_text', text: HEADER + summary }],
    native: { backstory: { compaction: true } },
  }
}

/** Trustworthy: a client cannot set this field. */
export function isCompactionMessage(item: Item): boolean {
  return item.native?.['backstory']?.['compaction'] === true
}

/** Returns the summary without the header. */
export function readCompactionMessage({ content }: Message): string {
  return textOf(content).slice(HEADER.length)
}

const HEADER =
  '[Summary of the conversation so far. It replaces what was said and done before this point, except the messages of the user. Go on from here.]\n\n'
const PREFIX = 'backstory:'
