/**
 * A `compaction` item stands for all that was said before it. What is in it, only its maker can
 * read; of ours that is a summary in words. This is the one file that packs and unpacks it.
 */
import { decodeBase64Json, encodeBase64Json } from '../json/base64-json.ts'
import { textOf, type Item, type Message, type OpaqueItem } from '../item.ts'
import { readGatewayField, setGatewayField } from './author-time-and-reset-fields.ts'
import { isObject } from '../json/json.ts'
import { detectEncryptedContentWire } from '../reasoning/detect-encrypted-content-wire.ts'

/** The item as clients know it: opaque to them, to be sent back as it is. */
export function createCompactionItem(id: string, summary: string): OpaqueItem {
  return { type: 'opaque', raw: { id, type: 'compaction', encrypted_content: packed(summary) } }
}

export function isCompaction(item: Item): item is OpaqueItem {
  return item.type === 'opaque' && item.raw['type'] === 'compaction'
}

/** Asks for a compaction, as the last item of an input. */
export function isCompactionTrigger(item: Item | undefined): item is OpaqueItem {
  return item?.type === 'opaque' && item.raw['type'] === 'compaction_trigger'
}

/** `null` for what somebody else made, and for what is not as we made it. */
export function readGatewayCompaction({ raw }: OpaqueItem): string | null {
  const sealed = raw['encrypted_content']
  return typeof sealed === 'string' && sealed.startsWith(PREFIX) ? unpacked(sealed) : null
}

export function isGatewayCompaction({ raw }: OpaqueItem): boolean {
  const sealed = raw['encrypted_content']
  return typeof sealed === 'string' && sealed.startsWith(PREFIX)
}

/**
 * The wire of the upstream that made it, which alone can read it; `null` for one of ours. One that its
 * client has brought along in Anthropic's own words has its text in the open.
 */
export function readCompactionWire(item: OpaqueItem): string | null {
  if (isGatewayCompaction(item)) return null
  const { encrypted_content: sealed, content } = item.raw
  if (typeof sealed === 'string') return detectEncryptedContentWire(sealed) ?? 'responses'
  return typeof content === 'string' ? 'anthropic' : 'responses'
}

/** Whether it has come to its end: of an answer that broke off in the middle of one, it has not. */
export function isCompleteCompaction({ raw }: OpaqueItem): boolean {
  const { status, encrypted_content: sealed, content } = raw
  if (status === 'incomplete' || status === 'in_progress') return false
  return [sealed, content].some((held) => typeof held === 'string' && held !== '')
}

/** Whether an upstream made it, and not the gateway. */
export function isUpstreamCompaction(item: Item): item is OpaqueItem {
  return isCompaction(item) && !isGatewayCompaction(item)
}

/** The same, made of a conversation in which nothing of some authors was shown. */
export function setHiddenAuthors(item: OpaqueItem, hidden: readonly string[]): OpaqueItem {
  return setGatewayField(item, { without: hidden })
}

/** A client cannot say this of an item, so it is ours. */
export function readHiddenAuthors(item: OpaqueItem): readonly unknown[] {
  const hidden = readGatewayField(item)?.['without']
  return Array.isArray(hidden) ? hidden : []
}

/**
 * Whether it stands for what the user said, too, and its maker reads nothing in front of it but the
 * instructions at the head.
 */
export function replacesUserMessages(item: Item): boolean {
  return isCompaction(item) && readCompactionWire(item) === 'anthropic'
}

/** What a model is given in place of the item. A client cannot say this of an item, so it is ours. */
export function createCompactionMessage(summary: string): Message {
  return {
    type: 'message',
    role: 'developer',
    content: [{ type: 'input_text', text: HEADER + summary }],
    native: { backstory: { compaction: true } },
  }
}

export function isCompactionMessage(item: Item): boolean {
  return item.native?.['backstory']?.['compaction'] === true
}

/** The summary alone, without the words that go with it. */
export function readCompactionMessage({ content }: Message): string {
  return textOf(content).slice(HEADER.length)
}

const HEADER =
  '[Summary of the conversation so far. It replaces what was said and done before this point, except the messages of the user. Go on from here.]\n\n'

const PREFIX = 'backstory:'

/** Later the JSON may be sealed with a key instead; the version tells. */
function packed(summary: string): string {
  return PREFIX + encodeBase64Json({ v: 1, summary })
}

function unpacked(sealed: string): string | null {
  const json = decodeBase64Json(sealed.slice(PREFIX.length))
  if (!isObject(json) || json['v'] !== 1) return null
  return typeof json['summary'] === 'string' ? json['summary'] : null
}
