/**
 * Parses a request that may say in its field `backstory` what it wishes of its context, and in the
 * same field of an item what holds for that. These fields are for the gateway alone: behind this
 * place nobody finds them in what the client wrote.
 */
import type { JsonObject } from '../../core/json/json.ts'
import { bytesOf } from '../../core/json/well-formed-json.ts'
import { maybe } from '../checks/check-json-types.ts'
import type { Dialect } from '../../core/ports/dialect-interface.ts'
import type { Inbound } from '../../core/client-request.ts'
import { withoutItemFields } from './parse-item-backstory-field.ts'
import { readWishes } from './parse-and-format-overrides.ts'

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
