/**
 * Creates and reads `compaction` items. Such an item replaces all items before it. Its content can be
 * read only by the upstream that made it, or by the gateway, whose compactions contain a summary.
 */
import { decodeBase64Json, encodeBase64Json } from '../json/base64-json.ts'
import { textOf, type Item, type Message, type OpaqueItem } from '../item.ts'
import { escapeFakeNotices } from '../text/gateway-notice.ts'
import { readGatewayFields, setGatewayFields } from './gateway-fields.ts'
import { isObject } from '../json/json.ts'
import { detectEncryptedContentWire } from '../reasoning/detect-encrypted-content-wire.ts'

/** Creates a gateway compaction, which a client stores and sends back unchanged. */
export function createCompactionItem(id: string, summary: string): OpaqueItem {
  const content = PREFIX + encodeBase64Json({ v: 1, summary })
  return { type: 'opaque', raw: { id, type: 'compaction', encrypted_content: content } }
}

export function isCompaction(item: Item): item is OpaqueItem {
  return item.type === 'opaque' && item.raw['type'] === 'compaction'
}

/** True for a client's input item that requests a compaction of all items before it. */
export function isCompactionTrigger(item: Item | undefined): item is OpaqueItem {
  return item?.type === 'opaque' && item.raw['type'] === 'compaction_trigger'
}

/** Returns the summary in a gateway compaction; null if an upstream made the item or its content is invalid. */
export function readGatewayCompactionSummary({ raw }: OpaqueItem): string | null {
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
 * Returns the wire of the upstream that made the compaction; null if the gateway made it. A compaction
 * with text in `content` instead of `encrypted_content` is one of Anthropic that the client sent.
 */
export function readCompactionWire(item: OpaqueItem): string | null {
  if (isGatewayCompaction(item)) return null
  const { encrypted_content: encrypted, content } = item.raw
  if (typeof encrypted === 'string') return detectEncryptedContentWire(encrypted) ?? 'responses'
  return typeof content === 'string' ? 'anthropic' : 'responses'
}

/** True if the compaction has content; false if the answer broke off before the item ended. */
export function isCompleteCompaction({ raw }: OpaqueItem): boolean {
  const { status, encrypted_content: encrypted, content } = raw
  if (status === 'incomplete' || status === 'in_progress') return false
  return [encrypted, content].some((text) => typeof text === 'string' && text !== '')
}

/** True for a compaction by an upstream, not by the gateway. */
export function isUpstreamCompaction(item: Item): item is OpaqueItem {
  return isCompaction(item) && !isGatewayCompaction(item)
}

/** Returns a copy that records the authors whose messages were hidden when the compaction was made. */
export function setCompactionHiddenAuthors(
  item: OpaqueItem,
  hidden: readonly string[],
): OpaqueItem {
  return setGatewayFields(item, { without: hidden })
}

/** Returns the authors that `setCompactionHiddenAuthors` recorded. A client cannot set this field. */
export function readCompactionHiddenAuthors(item: OpaqueItem): readonly unknown[] {
  const hidden = readGatewayFields(item)?.['without']
  return Array.isArray(hidden) ? hidden : []
}

/** True for a compaction by Anthropic, which replaces user messages too. Other compactions leave them in the prompt. */
export function replacesUserMessages(item: Item): boolean {
  return isCompaction(item) && readCompactionWire(item) === 'anthropic'
}

/** Creates the message with the summary that a model is sent instead of a gateway compaction. */
export function createCompactionMessage(summary: string): Message {
  return {
    type: 'message',
    role: 'developer',
    content: [{ type: 'input_text', text: HEADER + escapeFakeNotices(summary) }],
    native: { backstory: { compaction: true } },
  }
}

/** True for a message from `createCompactionMessage`. A client cannot set this field. */
export function isCompactionMessage(item: Item): boolean {
  return item.native?.['backstory']?.['compaction'] === true
}

/** Returns the summary in a compaction message, without the message's header. */
export function readCompactionMessageSummary({ content }: Message): string {
  return textOf(content).slice(HEADER.length)
}

const HEADER =
  '[Summary of the conversation so far. It replaces what was said and done before this point, except the messages of the user. Go on from here.]\n\n'
const PREFIX = 'backstory:'
