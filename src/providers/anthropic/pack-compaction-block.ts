/**
 * Packs a compaction block into a string, because OpenAI's clients send a compaction back only in
 * the field `encrypted_content`:
 *
 *     encrypted_content: anthropic:compaction:<base64 of the block as JSON>
 *
 * The API requires the unchanged block in later requests. A client may also send the block itself
 * in Anthropic's format.
 */
import { decodeBase64Json, encodeBase64Json } from '../../core/json/base64-json.ts'
import type { OpaqueItem } from '../../core/item.ts'
import type { JsonBudget } from '../../core/json/limited-json.ts'
import { isObject } from '../../core/json/json.ts'
import type { ContentBlock } from './api-types.ts'

const PREFIX = 'anthropic:compaction:'

export function packCompactionBlock(block: ContentBlock): OpaqueItem {
  const raw = { type: 'compaction', encrypted_content: PREFIX + encodeBase64Json(block) }
  return { type: 'opaque', raw }
}

/**
 * Returns the compaction block that an item contains. Returns `null` if another provider made the
 * item, or if the compaction failed.
 */
export function unpackCompactionBlock(
  { raw }: OpaqueItem,
  budget: JsonBudget,
): ContentBlock | null {
  const { type, encrypted_content: packed, id: _id, ...fields } = raw
  if (type !== 'compaction') return null
  if (typeof packed === 'string' && packed.startsWith(PREFIX)) {
    const block = decodeBase64Json(packed.slice(PREFIX.length), budget)
    return isObject(block) && isCompactionBlock(block) ? block : null
  }
  const block = { type, ...fields, ...(packed === undefined ? {} : { encrypted_content: packed }) }
  return isCompactionBlock(block) ? block : null
}

/** True if the block is a compaction that succeeded. A failed compaction has no content. */
export function isCompactionBlock({ type, content }: ContentBlock): boolean {
  return type === 'compaction' && typeof content === 'string' && content !== ''
}
