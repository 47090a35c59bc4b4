/**
 * Parses a request that may say in its field `backstory` what it wishes of its context, and in the
 * same field of an item what holds for that. These fields are for the gateway alone: behind this
 * place nobody finds them in what the client wrote.
 */
import type { JsonObject } from '../../core/json/json.ts'
import { createLazyJsonBytes } from '../../core/json/well-formed-json.ts'
import { readOptional } from '../checks/check-json-types.ts'
import type { Dialect } from '../../core/ports/dialect-interface.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import { removeItemBackstoryFields } from './parse-item-backstory-field.ts'
import { readPolicyOverrides } from './parse-and-format-overrides.ts'

/** Without `bytes`, nobody has written it yet. */
export function parseRequestWithOverrides(
  dialect: Dialect,
  written: JsonObject,
  bytes?: ClientRequest['bytes'],
): ClientRequest {
  const asked = withoutWishes(written)
  const wishes = readOptional(readPolicyOverrides, written['backstory'], 'backstory')
  const clientRequest = dialect.parse(asked, bytes)
  const body = removeItemBackstoryFields(asked)
  if (body === written) return clientRequest
  return { ...clientRequest, policyOverrides: wishes, body, bytes: createLazyJsonBytes(body) }
}

function withoutWishes(written: JsonObject): JsonObject {
  if (written['backstory'] === undefined) return written
  const { backstory: _backstory, ...body } = written
  return body
}
