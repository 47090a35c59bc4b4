/**
 * Encodes the items of a prompt as `input`. Items that do not change are the same objects; each
 * change gets a note.
 *
 * Requests have `store: false`, so the upstream cannot look up items by id. It rejects the id of a
 * reasoning item with 404, an id of the gateway or of another provider with 400, and an item whose
 * id belongs to missing reasoning. Therefore the ids of all items are removed, not only those of
 * reasoning: an id of another item in the same answer refers to its reasoning. A client that itself
 * sends `store: false` manages ids correctly, so its items keep their ids, unless some of its
 * reasoning is dropped.
 *
 * For the same reason, the upstream can read reasoning only from `encrypted_content` that was made
 * by the same account, or as plain text if it accepts that.
 */
import { patchObject } from '../../../core/json/patch-object.ts'
import {
  isToolItem,
  isToolOutput,
  type Item,
  type OpaqueItem,
  type Reasoning,
} from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'
import { detectEncryptedContentWire } from '../../../core/reasoning/detect-encrypted-content-wire.ts'
import type { Prompt } from '../../../core/prompt.ts'
import type { Account } from '../../provider-interface.ts'
import { encodeParts } from './encode-parts.ts'
import type { NoteCollector, NoteCode } from '../encoding-notes.ts'

export function encodeInputItems(
  { items, source }: Prompt,
  account: Account,
  notes: NoteCollector,
): readonly JsonObject[] {
  const { dialect, body } = source
  const clientItems = dialect === 'responses' && body['store'] === false ? source.items : []
  const target: ItemTarget = {
    account: account.name,
    acceptsRawReasoning: account.quirks['rawReasoning'] === true,
    dialect,
    statelessClientItems: new Set(clientItems),
    keepsIds: includesAllReasoning(clientItems, items),
  }
  const input: JsonObject[] = []
  for (const [at, item] of items.entries()) {
    const codes = new Set<NoteCode>()
    const encoded = encodeItem(item, target, (code) => codes.add(code))
    if (encoded !== null) input.push(encoded)
    for (const code of codes) notes.write(code, { at })
  }
  return input
}

interface ItemTarget {
  readonly account: string
  readonly acceptsRawReasoning: boolean
  readonly dialect: Prompt['source']['dialect']
  /** The items of a client that sends `store: false` and its complete conversation. */
  readonly statelessClientItems: ReadonlySet<Item>
  readonly keepsIds: boolean
}

function includesAllReasoning(clientItems: readonly Item[], items: readonly Item[]): boolean {
  const reasoning = clientItems.filter(({ type }) => type === 'reasoning')
  if (reasoning.length === 0) return true
  const sent = new Set(items)
  return reasoning.every((item) => sent.has(item))
}

function keepsId(item: Item, { statelessClientItems, keepsIds }: ItemTarget): boolean {
  return keepsIds && statelessClientItems.has(item)
}

type WriteNote = (code: NoteCode) => void

/** Encodes an item; returns null if it must not be sent. */
function encodeItem(item: Item, target: ItemTarget, note: WriteNote): JsonObject | null {
  const changes: Record<string, Json | undefined> = { native: undefined, origin: undefined }
  if (item.type === 'opaque') return encodeOpaque(item, target, note)
  if (item.type === 'reasoning') {
    const code = explainReasoningDrop(item, target)
    if (code !== null) {
      note(code)
      return null
    }
  }
  if (item.type === 'message') {
    const source = { isAssistant: item.role === 'assistant', dialect: target.dialect }
    changes['content'] = encodeParts(item.content, source, note)
  }
  if (isToolOutput(item) && typeof item.output !== 'string') {
    const source = { isAssistant: false, dialect: target.dialect }
    changes['output'] = encodeParts(item.output, source, note)
  }
  if (isToolItem(item) && item.call_id !== shortenCallId(item.call_id)) {
    note('call-id-shortened')
    changes['call_id'] = shortenCallId(item.call_id)
  }
  if (item.id !== undefined && !keepsId(item, target)) {
    note('id-of-stored-item')
    changes['id'] = undefined
  }
  return patchObject(item as unknown as JsonObject, changes)
}

function explainReasoningDrop(item: Reasoning, target: ItemTarget): NoteCode | null {
  const { origin, encrypted_content: encrypted, content = [] } = item
  const isForeign =
    origin !== undefined && (origin.wire !== 'responses' || origin.account !== target.account)
  if (typeof encrypted === 'string' && encrypted !== '')
    return isForeign || detectEncryptedContentWire(encrypted) !== null
      ? 'reasoning-made-elsewhere'
      : null
  const isFromThisAccount =
    target.statelessClientItems.has(item) || (origin !== undefined && !isForeign)
  const isReadable = content.length > 0 && (target.acceptsRawReasoning || isFromThisAccount)
  return isReadable ? null : 'reasoning-not-sealed'
}

/** Item types that the API accepts without an id. Other types require one. */
const TYPES_WITHOUT_ID: ReadonlySet<Json | undefined> = new Set(
  `compaction web_search_call shell_call shell_call_output apply_patch_call
  apply_patch_call_output tool_search_call tool_search_output`.split(/\s+/),
)

/** Matches item types that the gateway defines for items that only one other provider can read. */
const OTHER_WIRE_TYPE = /^(?:anthropic|gemini|chat|demo):/

function encodeOpaque(item: OpaqueItem, target: ItemTarget, note: WriteNote): JsonObject | null {
  const { raw, origin } = item
  const { type } = raw
  const isOtherWire = typeof type === 'string' && OTHER_WIRE_TYPE.test(type)
  if (isOtherWire || (origin !== undefined && origin.wire !== 'responses')) {
    note('item-of-another-wire')
    return null
  }
  if (raw['id'] === undefined || keepsId(item, target) || !TYPES_WITHOUT_ID.has(type)) return raw
  note('id-of-stored-item')
  return patchObject(raw, { id: undefined })
}

const MAX_CALL_ID_CHARS = 64

/**
 * Shortens a call id that is too long: cuts it and appends a hash of the complete id. For example,
 * `call_…` of 80 characters becomes its first 49 characters, `_` and a hash of 14 characters. A
 * call and its output are shortened in the same way, so they still match.
 */
function shortenCallId(callId: string): string {
  if (callId.length <= MAX_CALL_ID_CHARS) return callId
  return `${callId.slice(0, MAX_CALL_ID_CHARS - 15)}_${hash(callId)}`
}

/** Hashes a text to 64 bits: FNV-1a with two different seeds, each as 7 base-36 digits. */
function hash(text: string): string {
  let low = 0x811c9dc5
  let high = 0xcbf29ce4
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    low = Math.imul(low ^ code, 0x01000193)
    high = Math.imul(high ^ (code + index), 0x01000193)
  }
  return [low, high].map((half) => (half >>> 0).toString(36).padStart(7, '0')).join('')
}
