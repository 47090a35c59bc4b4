/**
 * What of a request is kept with its turn: all of it, but what is large and was the same in the turn
 * before. A client sends its tools and instructions again with every request.
 */
import type { Json, JsonObject } from '../../core/json/json.ts'
import { digestText } from '../../core/text/digest.ts'
import type { FieldDigests } from '../../store/turns/turn-store-interface.ts'

export interface DeduplicatedRequest {
  readonly request: JsonObject
  readonly digests: FieldDigests
}

export function omitRepeatedRequestFields(
  request: JsonObject,
  before: FieldDigests,
): DeduplicatedRequest {
  const digests: Record<string, string> = {}
  const kept: Record<string, Json | undefined> = {}
  for (const [name, value] of Object.entries(request)) {
    const text = textOf(value)
    if (text.length < LARGE) {
      kept[name] = value
      continue
    }
    const own = digestText(text)
    digests[name] = own
    if (before[name] !== own) kept[name] = value
  }
  return { request: kept, digests }
}

/** Smaller ones are not worth their digest. */
const LARGE = 100

function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value.length < LARGE ? value : JSON.stringify(value)
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : ''
}
