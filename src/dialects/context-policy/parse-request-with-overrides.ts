/**
 * Parses a request and takes out the gateway's own field `backstory`: policy overrides in the body,
 * options of one item in its entries. No part of the gateway after this finds them in the body, so
 * no upstream is sent them.
 */
import type { JsonObject } from '../../core/json/json.ts'
import { createLazyJsonBytes } from '../../core/json/well-formed-json.ts'
import { readOptional } from '../checks/check-json-types.ts'
import type { Dialect } from '../../core/ports/dialect-interface.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import { removeItemBackstoryFields } from './parse-item-backstory-field.ts'
import { readPolicyOverrides } from './parse-and-format-overrides.ts'

/** `bytes` is the body as the client sent it. If it is absent, the body is serialized when needed. */
export function parseRequestWithOverrides(
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
