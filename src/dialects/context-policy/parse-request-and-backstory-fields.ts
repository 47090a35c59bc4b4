/**
 * Parses a request with the gateway's fields `backstory`: policy overrides in the body, and author,
 * time, `pin` and `reset` in its messages or items. Removes these fields from the body, so that no
 * upstream is sent them.
 */
import type { JsonObject } from '../../core/json/json.ts'
import { createLazyJsonBytes } from '../../core/json/well-formed-json.ts'
import { readOptional } from '../checks/check-json-types.ts'
import type { Dialect } from '../../core/ports/dialect-interface.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import { removeItemBackstoryFields } from './parse-item-backstory-field.ts'
import { readPolicyOverrides } from './parse-and-format-overrides.ts'

/**
 * `bytes` is the body as the client sent it. Without it, the body is serialized when it is needed.
 */
export function parseRequestAndBackstoryFields(
  dialect: Dialect,
  clientBody: JsonObject,
  bytes?: ClientRequest['bytes'],
): ClientRequest {
  const { backstory, ...otherFields } = clientBody
  const bodyToParse = backstory === undefined ? clientBody : otherFields
  const policyOverrides = readOptional(readPolicyOverrides, backstory, 'backstory')
  const clientRequest = dialect.parse(bodyToParse, bytes)
  const body = removeItemBackstoryFields(bodyToParse)
  if (body === clientBody) return clientRequest
  return { ...clientRequest, policyOverrides, body, bytes: createLazyJsonBytes(body) }
}
