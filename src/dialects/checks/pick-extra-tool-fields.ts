/**
 * Picks the fields of a tool that the type `Tool` does not have, e.g. `defer_loading`. A field that is `null` counts as
 * missing.
 */
import type { JsonObject } from '../../core/json/json.ts'
import type { ExtraToolFields } from '../../core/prompt.ts'

export function pickExtraToolFields(...levels: readonly JsonObject[]): {
  readonly extra?: ExtraToolFields
} {
  const fields = levels
    .flatMap((level) => Object.entries(level))
    .filter(([name, value]) => !KNOWN_TOOL_FIELDS.has(name) && value !== null)
  return fields.length === 0 ? {} : { extra: Object.fromEntries(fields) }
}

/** `function` and `custom` are the nested objects of Chat Completions, whose fields are picked separately. */
const KNOWN_TOOL_FIELDS: ReadonlySet<string> = new Set(
  'type name description parameters strict format function custom'.split(' '),
)
