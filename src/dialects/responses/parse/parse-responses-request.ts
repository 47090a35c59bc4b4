/**
 * A body of `POST /responses`, understood. Whatever JSON it holds, the answer is an Inbound or a
 * `GatewayError` with the path of what is wrong.
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
  const memory = parseStorageOptions(body)
  const items = [...leadingItems(body['instructions']), ...inputItems(body, memory)]
  return {
    dialect: 'responses',
    stream: readOptional(asBoolean, body['stream'], 'stream') ?? false,
    items,
    params: parseResponsesParameters(body),
    storage: memory,
    policyOverrides: null,
    generatesAnswer: readOptional(asBoolean, body['generate'], 'generate') ?? true,
    overflow: parseOverflowOptions(body, items),
    client: DEFAULT_CLIENT_TRAITS,
    body,
    bytes,
  }
}

/** Instructions may be a list of items, as a response object shows them. They stand in front then. */
function leadingItems(instructions: JsonObject[string]): readonly Item[] {
  return Array.isArray(instructions) ? parseItems(instructions, 'instructions') : []
}

function inputItems(body: JsonObject, memory: StorageOptions): readonly Item[] {
  const { input } = body
  if (typeof input === 'string') {
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
  }
  if (input !== undefined && input !== null) return parseItems(input, 'input')
  const goesOn = memory.previousResponseId !== null || memory.conversationId !== null
  if (goesOn || isObject(body['prompt'])) return []
  throw createWrongTypeError(input, 'input', 'a string or an array')
}
