/**
 * Parses a request that may say in its field `backstory` what it wishes of its context, and in the
 * same field of an item what holds for that. These fields are for the gateway alone: behind this
 * place nobody finds them in what the client wrote.
 */
import type { JsonObject } from '../conversation/json.ts'
import { bytesOf } from '../conversation/well-formed-json.ts'
import { maybe } from './check.ts'
import type { Dialect } from './dialect-interface.ts'
import type { Inbound } from './dialect.ts'
import { withoutItemFields } from './item-field.ts'
import { readWishes } from './wishes.ts'

/** Without `bytes`, nobody has written it yet. */
export function parseWished(
  dialect: Dialect,
  written: JsonObject,
  bytes?: Inbound['bytes'],
): Inbound {
  const asked = withoutWishes(written)
  const wishes = maybe(readWishes, written['backstory'], 'backstory')
  const inbound = dialect.parse(asked, bytes)
  const body = withoutItemFields(asked)
  if (body === written) return inbound
  return { ...inbound, wishes, body, bytes: bytesOf(body) }
}

function withoutWishes(written: JsonObject): JsonObject {
  if (written['backstory'] === undefined) return written
  const { backstory: _backstory, ...body } = written
  return body
}
