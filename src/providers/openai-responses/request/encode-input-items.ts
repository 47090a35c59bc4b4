/**
 * The items of a prompt as `input`. An item that may be sent as it is goes as the very object;
 * whatever does not has a note.
 *
 * Upstream nothing is stored (`store: false`), so there is nothing that an id could be looked up in:
 * the id of a reasoning item is a 404, an id of ours or of another provider a 400, and an id whose
 * reasoning is gone asks for it back. Items go without ids, then, all of them, for to strip those of
 * the reasoning alone parts a group. One exception: who says `store: false` himself knows all that,
 * and what he brings along in this request is sent on as it is, unless reasoning of his is left out.
 *
 * For the same reason reasoning is read upstream only from its `encrypted_content`, by the account
 * that sealed it, or from plain text where the upstream shows its reasoning that way.
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
import { shortenCallId } from './normalize-call-ids.ts'
import { encodeParts } from './encode-parts.ts'
import type { NoteCollector, NoteCode } from '../encoding-notes.ts'

export function encodeInputItems(
  { items, source }: Prompt,
  account: Account,
  notebook: NoteCollector,
): readonly JsonObject[] {
  const { dialect, body } = source
  const own = new Set(dialect === 'responses' && body['store'] === false ? source.items : [])
  const target: ItemTarget = {
    account: account.name,
    takesRawReasoning: account.quirks['rawReasoning'] === true,
    dialect,
    statelessClientItems: own,
    keepsIds: includesAllReasoning([...own], items),
  }
  const input: JsonObject[] = []
  for (const [at, item] of items.entries()) {
    const why = new Set<NoteCode>()
    const sent = encodeItem(item, target, (code) => why.add(code))
    if (sent !== null) input.push(sent)
    for (const code of why) notebook.write(code, { at })
  }
  return input
}

interface ItemTarget {
  readonly account: string
  readonly takesRawReasoning: boolean
  readonly dialect: Prompt['source']['dialect']
  /** What a client that stores nothing upstream brings along itself. */
  readonly statelessClientItems: ReadonlySet<Item>
  readonly keepsIds: boolean
}

/** An id whose reasoning is gone asks for it back. */
function includesAllReasoning(own: readonly Item[], items: readonly Item[]): boolean {
  const reasoning = own.filter(({ type }) => type === 'reasoning')
  if (reasoning.length === 0) return true
  const sent = new Set(items)
  return reasoning.every((item) => sent.has(item))
}

function keepsId(item: Item, { statelessClientItems, keepsIds }: ItemTarget): boolean {
  return keepsIds && statelessClientItems.has(item)
}

type WriteNote = (why: NoteCode) => void
type FieldChanges = Record<string, Json | undefined>

/** `null` for what must not be sent. */
function encodeItem(item: Item, target: ItemTarget, note: WriteNote): JsonObject | null {
  const changes: FieldChanges = { native: undefined, origin: undefined }
  if (item.type === 'opaque') return encodeOpaque(item, target, note)
  if (item.type === 'reasoning') {
    const why = explainReasoningDrop(item, target)
    if (why !== null) {
      note(why)
      return null
    }
  }
  if (item.type === 'message') {
    const speaker = { isAssistant: item.role === 'assistant', dialect: target.dialect }
    changes['content'] = encodeParts(item.content, speaker, note)
  }
  if (isToolOutput(item) && typeof item.output !== 'string') {
    const speaker = { isAssistant: false, dialect: target.dialect }
    changes['output'] = encodeParts(item.output, speaker, note)
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
  const { origin, encrypted_content: sealed, content = [] } = item
  const isForeign =
    origin !== undefined && (origin.wire !== 'responses' || origin.account !== target.account)
  if (typeof sealed === 'string' && sealed !== '')
    return isForeign || detectEncryptedContentWire(sealed) !== null
      ? 'reasoning-made-elsewhere'
      : null
  const isFromHere = target.statelessClientItems.has(item) || (origin !== undefined && !isForeign)
  const isReadable = content.length > 0 && (target.takesRawReasoning || isFromHere)
  return isReadable ? null : 'reasoning-not-sealed'
}

/** Those types that the API accepts without an id. The others need it, if only to be well-formed. */
const TYPES_WITHOUT_ID: ReadonlySet<Json | undefined> = new Set(
  `compaction web_search_call shell_call shell_call_output apply_patch_call
  apply_patch_call_output tool_search_call tool_search_output`.split(/\s+/),
)

/** Types that other wires of this gateway have made up for what only they understand. */
const OTHER_WIRE_TYPE = /^(?:anthropic|gemini|chat|demo):/

function encodeOpaque(item: OpaqueItem, target: ItemTarget, note: WriteNote): JsonObject | null {
  const { raw, origin } = item
  const { type } = raw
  const isOthers = typeof type === 'string' && OTHER_WIRE_TYPE.test(type)
  if (isOthers || (origin !== undefined && origin.wire !== 'responses')) {
    note('item-of-another-wire')
    return null
  }
  if (raw['id'] === undefined || keepsId(item, target) || !TYPES_WITHOUT_ID.has(type)) return raw
  note('id-of-stored-item')
  return patchObject(raw, { id: undefined })
}
