/** What a client says of a conversation's context: as it was written, once it is known to make sense. */
import { isObject, type JsonObject } from '../../core/json/json.ts'
import {
  readPolicyOverrides,
  formatPolicyOverrides,
} from '../../dialects/context-policy/parse-and-format-overrides.ts'

/** `null` is for nothing. A name alone is that of a policy. */
export function checkContextOverrides(value: unknown, path: string): JsonObject | null {
  if (value === null || value === undefined) return null
  const wishes = readPolicyOverrides(value, path)
  return isObject(value) ? value : formatPolicyOverrides(wishes)
}
