/**
 * A compaction block as one string, in the field where every client that knows compactions keeps them:
 *
 *     anthropic:compaction:<base64 of the block as JSON>
 *
 * The block has to come back as it was. It may come from a client in its own words as well.
 */
import { fromBase64Json, toBase64Json } from '../../core/json/base64-json.ts'
import type { Opaque } from '../../core/item.ts'
import { isObject } from '../../core/json/json.ts'
import type { Block } from './api-types.ts'

const SEAL = 'anthropic:compaction:'

export function sealedCompaction(block: Block): Opaque {
  const raw = { type: 'compaction', encrypted_content: SEAL + toBase64Json(block) }
  return { type: 'opaque', raw }
}

/** `null` for what is no compaction of this provider, or holds none. */
export function unsealedCompaction({ raw }: Opaque): Block | null {
  const { type, encrypted_content: sealed, id: _id, ...own } = raw
  if (type !== 'compaction') return null
  if (typeof sealed === 'string' && sealed.startsWith(SEAL)) {
    const block = fromBase64Json(sealed.slice(SEAL.length))
    return isObject(block) && isCompaction(block) ? block : null
  }
  const block = { type, ...own, ...(sealed === undefined ? {} : { encrypted_content: sealed }) }
  return isCompaction(block) ? block : null
}

/** One that failed has no content, and stands for nothing. */
export function isCompaction({ type, content }: Block): boolean {
  return type === 'compaction' && typeof content === 'string' && content !== ''
}
