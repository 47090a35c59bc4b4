/**
 * True if a field has its default value, e.g. `n: 1`. An encoder that leaves it out changes nothing
 * and needs no note.
 */
import type { Json } from '../../core/json/json.ts'

export function isDefaultValue(field: string, value: Json | undefined): boolean {
  if (value === undefined || value === null) return true
  if (value === false) return field !== 'parallel_tool_calls'
  if (value === 0) return field !== 'seed'
  if (Array.isArray(value) && value.length > 0)
    return value.length === 1 && LIST_DEFAULTS.get(field) === value[0]
  if (typeof value === 'object') return Object.keys(value).length === 0
  return Object.hasOwn(DEFAULTS, field) && (DEFAULTS[field] ?? []).includes(value)
}

const DEFAULTS: Readonly<Record<string, readonly Json[]>> = {
  n: [1],
  parallel_tool_calls: [true],
  service_tier: ['auto', 'default'],
  tool_choice: ['auto', 'none'],
  truncation: ['disabled'],
  verbosity: ['medium'],
}

/** Fields whose default is a list with this one value. */
const LIST_DEFAULTS: ReadonlyMap<string, Json> = new Map([
  ['modalities', 'text'],
  ['allowed_callers', 'direct'],
])
