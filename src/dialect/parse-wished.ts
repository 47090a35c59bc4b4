/**
 * Parses a request that may say in its field `backstory` what it wishes of its context. The field is
 * for the gateway alone: behind this place nobody knows that there was one.
 */
import type { JsonObject } from '../conversation/json.ts'
import { maybe } from './check.ts'
import type { Dialect, Inbound } from './dialect.ts'
import { readWishes } from './wishes.ts'

export function parseWished(dialect: Dialect, written: JsonObject, bytes: Uint8Array): Inbound {
  if (written['backstory'] === undefined) return dialect.parse(written, bytes)
  const { backstory, ...body } = written
  const wishes = maybe(readWishes, backstory, 'backstory')
  const rest = bytes.length === 0 ? bytes : new TextEncoder().encode(JSON.stringify(body))
  return { ...dialect.parse(body, rest), wishes }
}
