/** What a request wants done when its conversation grows too long for the model. */
import { isCompactionTrigger } from '../../../core/items/compaction-item.ts'
import type { Item } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { asList, asObject, asOneOf, asString, readOptional } from '../../checks/check-json-types.ts'
import type { OverflowOptions } from '../../../core/client-request.ts'
import { asIntegerBetween } from '../../checks/check-value-limits.ts'

export function parseOverflowOptions(body: JsonObject, items: readonly Item[]): OverflowOptions {
  // It is checked here because it is counted by whoever has hosted tools, and by nobody else.
  readOptional(
    asIntegerBetween(1, Number.MAX_SAFE_INTEGER),
    body['max_tool_calls'],
    'max_tool_calls',
  )
  return {
    compactAbove: readOptional(compactAbove, body['context_management'], 'context_management'),
    compactNow: endsWithTrigger(items),
    truncation: readOptional(asTruncation, body['truncation'], 'truncation') ?? 'disabled',
  }
}

const asTruncation = asOneOf(['auto', 'disabled'])
const asEntryType = asOneOf(['compaction'])
/** OpenAI wants 1000 and more; a small model may have need of less. */
const asThreshold = asIntegerBetween(1, Number.MAX_SAFE_INTEGER)

/** Of several entries the lowest threshold is the first to be reached. */
function compactAbove(value: unknown, path: string): OverflowOptions['compactAbove'] {
  const thresholds = asList(value, path).map((raw, at) => {
    const place = `${path}[${at}]`
    const entry = asObject(raw, place)
    asEntryType(asString(entry['type'], `${place}.type`), `${place}.type`)
    return readOptional(asThreshold, entry['compact_threshold'], `${place}.compact_threshold`)
  })
  if (thresholds.length === 0) return null
  const said = thresholds.filter((threshold) => threshold !== null)
  return said.length > 0 ? Math.min(...said) : 'window'
}

function endsWithTrigger(items: readonly Item[]): boolean {
  const at = items.findIndex(isCompactionTrigger)
  if (at < 0) return false
  if (at === items.length - 1) return true
  throw new GatewayError(
    'invalid_value',
    "Invalid 'input': an item of type 'compaction_trigger' must be the last one.",
    { param: 'input' },
  )
}
