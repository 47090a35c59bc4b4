/** Parses the fields for conversations that are too long: `context_management` and `truncation`. */
import { isCompactionTrigger } from '../../../core/items/compaction-item.ts'
import type { Item } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import {
  asListOf,
  asObject,
  asOneOf,
  asString,
  createInvalidFieldError,
  readOptional,
} from '../../checks/check-json-types.ts'
import type { OverflowOptions } from '../../../core/client-request.ts'
import { asPositiveInteger } from '../../checks/check-value-limits.ts'

export function parseOverflowOptions(body: JsonObject, items: readonly Item[]): OverflowOptions {
  // `max_tool_calls` is only checked here. It is forwarded in `extra`, because it limits the hosted
  // tools of an upstream.
  readOptional(asPositiveInteger, body['max_tool_calls'], 'max_tool_calls')
  return {
    compactAbove: readOptional(readCompactAbove, body['context_management'], 'context_management'),
    compactNow: endsWithTrigger(items),
    truncation: readOptional(asTruncation, body['truncation'], 'truncation') ?? 'disabled',
  }
}

const asTruncation = asOneOf(['auto', 'disabled'])
const asEntryType = asOneOf(['compaction'])

/**
 * Returns the lowest `compact_threshold` of the entries. Returns `'window'` (the model's context
 * window) if no entry has one, and `null` if there are no entries.
 */
function readCompactAbove(value: unknown, path: string): OverflowOptions['compactAbove'] {
  const thresholds = asListOf(readThreshold)(value, path)
  if (thresholds.length === 0) return null
  const numbers = thresholds.filter((threshold) => threshold !== null)
  return numbers.length > 0 ? Math.min(...numbers) : 'window'
}

function readThreshold(value: unknown, path: string): number | null {
  const entry = asObject(value, path)
  asEntryType(asString(entry['type'], `${path}.type`), `${path}.type`)
  // OpenAI requires 1000 or more, but a model with a small context window needs a lower threshold.
  return readOptional(asPositiveInteger, entry['compact_threshold'], `${path}.compact_threshold`)
}

function endsWithTrigger(items: readonly Item[]): boolean {
  const index = items.findIndex(isCompactionTrigger)
  if (index < 0) return false
  if (index === items.length - 1) return true
  const reason = "an item of type 'compaction_trigger' must be the last one."
  throw createInvalidFieldError('input', reason)
}
