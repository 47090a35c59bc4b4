/**
 * Encodes the items of a prompt as `input`. An item without changes stays the same object; each
 * change gets a note.
 *
 * The upstream stores nothing (`store: false`). Therefore it rejects a reasoning item with an id
 * (404), an id that the gateway or another provider generated (400), and an item whose id belongs
 * to reasoning that the request does not contain. So the ids of all items are removed, except
 * from opaque items of types that need one. A client that itself sends `store: false` sends valid
 * ids; they stay, unless some of its reasoning is dropped.
 *
 * The upstream can read reasoning only from `encrypted_content` of the same account, or as plain
 * text if the quirk `rawReasoning` allows it or this account made it.
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
import type { ResponsesNotes, NoteCode } from '../encoding-notes.ts'

export function encodeInputItems(
  { items, source }: Prompt,
  account: Account,
  notes: ResponsesNotes,
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
  for (const [itemIndex, item] of items.entries()) {
    const codes = new Set<NoteCode>()
    const encoded = encodeItem(item, target, (code) => codes.add(code))
    if (encoded !== null) input.push(encoded)
    for (const code of codes) notes.write(code, { itemIndex })
  }
  return input
}

interface ItemTarget {
  readonly account: string
  readonly acceptsRawReasoning: boolean
  readonly dialect: Prompt['source']['dialect']
  /** The items of a client that stores the conversation itself (`store: false`). */
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

/** Encodes an item; returns null if the upstream cannot read it. */
function encodeItem(item: Item, target: ItemTarget, writeNote: WriteNote): JsonObject | null {
  const changes: Record<string, Json | undefined> = { native: undefined, origin: undefined }
  if (item.type === 'opaque') return encodeOpaque(item, target, writeNote)
  if (item.type === 'reasoning') {
    const code = explainReasoningDrop(item, target)
    if (code !== null) {
      writeNote(code)
      return null
    }
  }
  if (item.type === 'message') {
    const source = { isAssistant: item.role === 'assistant', dialect: target.dialect }
    changes['content'] = encodeParts(item.content, source, writeNote)
  }
  if (isToolOutput(item) && typeof item.output !== 'string') {
    const source = { isAssistant: false, dialect: target.dialect }
    changes['output'] = encodeParts(item.output, source, writeNote)
  }
  if (isToolItem(item) && item.call_id !== shortenCallId(item.call_id)) {
    writeNote('call-id-shortened')
    changes['call_id'] = shortenCallId(item.call_id)
  }
  if (item.id !== undefined && !keepsId(item, target)) {
    writeNote('id-of-stored-item')
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

/**
 * The opaque item types that may be sent without an id. The API requires an id on items of other
 * opaque types.
 */
const TYPES_WITHOUT_ID: ReadonlySet<Json | undefined> = new Set(
  `compaction web_search_call shell_call shell_call_output apply_patch_call
  apply_patch_call_output tool_search_call tool_search_output`.split(/\s+/),
)

/** Matches the types of items that only one other provider can read, e.g. `gemini:part`. */
const OTHER_WIRE_TYPE = /^(?:anthropic|gemini|chat|demo):/

function encodeOpaque(
  item: OpaqueItem,
  target: ItemTarget,
  writeNote: WriteNote,
): JsonObject | null {
  const { raw, origin } = item
  const { type } = raw
  const isOtherWire = typeof type === 'string' && OTHER_WIRE_TYPE.test(type)
  if (isOtherWire || (origin !== undefined && origin.wire !== 'responses')) {
    writeNote('item-of-another-wire')
    return null
  }
  if (raw['id'] === undefined || keepsId(item, target) || !TYPES_WITHOUT_ID.has(type)) return raw
  writeNote('id-of-stored-item')
  return patchObject(raw, { id: undefined })
}

const MAX_CALL_ID_CHARS = 64

/**
 * Shortens a call id of more than 64 characters to its first 49 characters, `_`, and a hash of 14
 * characters. Equal ids get the same replacement, so a call and its output still match.
 */
function shortenCallId(callId: string): string {
  if (callId.length <= MAX_CALL_ID_CHARS) return callId
  return `${callId.slice(0, MAX_CALL_ID_CHARS - 15)}_${hash(callId)}`
}

/**
 * Returns a hash of 14 characters: two FNV-1a hashes with different seeds, each as 7 base-36
 * digits.
 */
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
