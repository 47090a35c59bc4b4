/**
 * Rejects JSON that is nested too deeply, before any recursive function reads it: a few kilobytes
 * of `[[[[…` could overflow the stack.
 */
import { isNestedTooDeeply, MAX_JSON_DEPTH } from '../../core/json/json-depth.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'

export function rejectDeepNesting(value: unknown): void {
  if (!isNestedTooDeeply(value)) return
  throw new GatewayError(
    'invalid_value',
    `The request is nested too deeply. Send it with at most ${MAX_JSON_DEPTH} levels.`,
  )
}
