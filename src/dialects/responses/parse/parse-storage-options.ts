/**
 * Parses the fields about stored data: `store`, `previous_response_id`, `conversation` and
 * `metadata`.
 */
import { isObject, type JsonObject } from '../../../core/json/json.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import {
  asBoolean,
  asString,
  readOptional,
  createInvalidFieldError,
  createWrongTypeError,
} from '../../checks/check-json-types.ts'
import type { StorageOptions } from '../../../core/client-request.ts'
import { asMetadata } from '../../checks/check-value-limits.ts'

export function parseStorageOptions(body: JsonObject): StorageOptions {
  const store = readOptional(asBoolean, body['store'], 'store')
  const background = readOptional(asBoolean, body['background'], 'background') ?? false
  const previousResponseId = parsePreviousResponse(body['previous_response_id'])
  const conversationId = parseConversation(body['conversation'])
  if (previousResponseId !== null && conversationId !== null) {
    throw new GatewayError(
      'mutually_exclusive_parameters',
      "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Send only one of them.",
      { param: 'previous_response_id' },
    )
  }
  if (background && store === false) {
    const message = "Unsupported parameter: 'background' can only be used when 'store' is true."
    throw new GatewayError('unsupported_parameter', message, { param: 'background' })
  }
  return {
    store,
    storeByDefault: true,
    previousResponseId,
    conversationId,
    background,
    metadata: readOptional(asMetadata, body['metadata'], 'metadata') ?? {},
  }
}

/** Reads `previous_response_id`. An empty string counts as absent, because some clients send it. */
function parsePreviousResponse(value: unknown): string | null {
  const id = readOptional(asString, value, 'previous_response_id')
  return id === '' ? null : id
}

/** Reads `conversation`: an id, or an object with an id. */
function parseConversation(value: unknown): string | null {
  if (value === undefined || value === null) return null
  if (typeof value === 'string') return asConversationId(value, 'conversation')
  if (!isObject(value)) throw createWrongTypeError(value, 'conversation', 'a string or an object')
  return asConversationId(asString(value['id'], 'conversation.id'), 'conversation.id')
}

function asConversationId(id: string, path: string): string {
  if (id.startsWith('conv_')) return id
  const reason = `'${id.slice(0, 40)}'. Expected an ID that begins with 'conv'.`
  throw createInvalidFieldError(path, reason)
}
