/**
 * Encodes tool names, because the API accepts only letters, digits, `_` and `-` in them:
 * `web.search` → `web_search_<hash>`. Equal names always get the same encoding. The decoder
 * restores the names in an answer.
 */
import { hashToHex } from './pack-thinking-block.ts'

const VALID_NAME = /^[a-zA-Z0-9_-]{1,128}$/

export function encodeToolName(name: string): string {
  if (VALID_NAME.test(name)) return name
  return `${name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 100)}_${hashToHex(name)}`
}
