/**
 * Parses the body of `POST /responses`. Invalid bodies are rejected with a GatewayError that
 * contains the path of the fault.
 */
import { DEFAULT_CLIENT_TRAITS } from '../../../core/client/client-traits.ts'
import type { Item } from '../../../core/item.ts'
import { isObject, type JsonObject } from '../../../core/json/json.ts'
import { createLazyJsonBytes } from '../../../core/json/well-formed-json.ts'
import { asBoolean, readOptional, createWrongTypeError } from '../../checks/check-json-types.ts'
import type { ClientRequest, StorageOptions } from '../../../core/client-request.ts'
import { parseOverflowOptions } from './parse-overflow-options.ts'
import { parseItems } from './parse-items.ts'
import { parseStorageOptions } from './parse-storage-options.ts'
import { parseResponsesParameters } from './parse-responses-parameters.ts'

export function parseResponsesRequest(
  body: JsonObject,
  bytes = createLazyJsonBytes(body),
): ClientRequest {
  const storage = parseStorageOptions(body)
  const items = [...parseInstructionItems(body['instructions']), ...parseInput(body, storage)]
  return {
    dialect: 'responses',
    stream: readOptional(asBoolean, body['stream'], 'stream') ?? false,
    items,
    params: parseResponsesParameters(body),
    storage,
    policyOverrides: null,
    generatesAnswer: readOptional(asBoolean, body['generate'], 'generate') ?? true,
    overflow: parseOverflowOptions(body, items),
    client: DEFAULT_CLIENT_TRAITS,
    body,
    bytes,
  }
}

/**
 * Parses instructions that are a list of items, as in a response object. These items come before
 * the input.
 */
function parseInstructionItems(instructions: JsonObject[string]): readonly Item[] {
  return Array.isArray(instructions) ? parseItems(instructions, 'instructions') : []
}

function parseInput(body: JsonObject, storage: StorageOptions): readonly Item[] {
  const { input } = body
  if (typeof input === 'string') {
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
  }
  if (Array.isArray(input)) return parseItems(input, 'input')
  if (input !== undefined && input !== null)
    throw createWrongTypeError(input, 'input', 'a string or an array')
  const hasHistory = storage.previousResponseId !== null || storage.conversationId !== null
  if (hasHistory || isObject(body['prompt'])) return []
  throw createWrongTypeError(input, 'input', 'a string or an array')
}
