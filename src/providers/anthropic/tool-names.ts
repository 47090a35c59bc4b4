/**
 * Encodes tool names for this wire, which accepts letters, digits, `_` and `-`. Equal names are
 * always changed in the same way, e.g. `web.search` → `web_search_<hash>`. The decoder maps the
 * names in an answer back to the client's names.
 */
import { hashText } from './pack-thinking-block.ts'

const VALID_NAME = /^[a-zA-Z0-9_-]{1,128}$/

export function encodeToolName(name: string): string {
  if (VALID_NAME.test(name)) return name
  return `${name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 100)}_${hashText(name)}`
}
