/**
 * Encodes tool names for this wire, which accepts letters, digits, `_` and `-`. Any other name is
 * always changed the same way, e.g. `web.search` → `web_search_<hash>`, and an answer's names are
 * mapped back to the client's.
 */
import { hashText } from './pack-thinking-block.ts'

const VALID_NAME = /^[a-zA-Z0-9_-]{1,128}$/

export function encodeToolName(name: string): string {
  if (VALID_NAME.test(name)) return name
  return `${name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 100)}_${hashText(name)}`
}
