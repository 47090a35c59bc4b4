/**
 * Stores with a request which of its tools the model was not offered, so that a stored response can be rendered as the
 * client received it. The list is an additional field of the stored request, which is never sent to an upstream.
 */
import type { Origin } from '../../core/item.ts'
import { isObject, type JsonObject } from '../../core/json/json.ts'
import type { StoredTurn } from '../../store/turns/turn-store-interface.ts'

const STORED_FIELD = 'backstory_lost_fields'

/**
 * Adds the list. `origin` is the upstream for which the request is prepared. If another upstream answers instead, the
 * list does not apply to it.
 */
export function addLostFields(
  request: JsonObject,
  lostFields: readonly string[],
  { account, model }: Origin,
): JsonObject {
  const fields = lostFields.filter((name) => /^tool(?:s\[\d+\]|_choice)$/.test(name))
  return fields.length === 0 ? request : { ...request, [STORED_FIELD]: { account, model, fields } }
}

/** Returns the client's request, and its fields that were lost at the upstream that answered. */
export function splitLostFields({ request, origin }: Pick<StoredTurn, 'request' | 'origin'>): {
  readonly request: JsonObject
  readonly lostFields: readonly string[]
} {
  const { [STORED_FIELD]: stored, ...rest } = request
  if (stored === undefined) return { request, lostFields: [] }
  const { account, model, fields } = isObject(stored) ? stored : {}
  const isSameUpstream = account === origin.account && model === origin.model
  const names: readonly unknown[] = isSameUpstream && Array.isArray(fields) ? fields : []
  return { request: rest, lostFields: names.filter((name) => typeof name === 'string') }
}
