/**
 * A compaction block as one string, in the field where every client that knows compactions keeps them:
 *
 *     anthropic:compaction:<base64 of the block as JSON>
 *
 * The block has to come back as it was. It may come from a client in its own words as well.
 */
import { decodeBase64Json, encodeBase64Json } from '../../core/json/base64-json.ts'
import type { OpaqueItem } from '../../core/item.ts'
import { isObject } from '../../core/json/json.ts'
import type { ContentBlock } from './api-types.ts'

const SEAL = 'anthropic:compaction:'

export function packCompactionBlock(block: ContentBlock): OpaqueItem {
  const raw = { type: 'compaction', encrypted_content: SEAL + encodeBase64Json(block) }
  return { type: 'opaque', raw }
}

/** `null` for what is no compaction of this provider, or holds none. */
export function unpackCompactionBlock({ raw }: OpaqueItem): ContentBlock | null {
  const { type, encrypted_content: sealed, id: _id, ...own } = raw
  if (type !== 'compaction') return null
  if (typeof sealed === 'string' && sealed.startsWith(SEAL)) {
    const block = decodeBase64Json(sealed.slice(SEAL.length))
    return isObject(block) && isCompactionBlock(block) ? block : null
  }
  const block = { type, ...own, ...(sealed === undefined ? {} : { encrypted_content: sealed }) }
  return isCompactionBlock(block) ? block : null
}

/** One that failed has no content, and stands for nothing. */
export function isCompactionBlock({ type, content }: ContentBlock): boolean {
  return type === 'compaction' && typeof content === 'string' && content !== ''
}
