/**
 * A body of `POST /responses`, understood. Whatever JSON it holds, the answer is an Inbound or a
 * `GatewayError` with the path of what is wrong.
 */
import { PLAIN_CLIENT } from '../../../core/client/client-traits.ts'
import type { Item } from '../../../core/item.ts'
import { isObject, type JsonObject } from '../../../core/json/json.ts'
import { bytesOf } from '../../../core/json/well-formed-json.ts'
import { asBoolean, maybe, wrongType } from '../../checks/check-json-types.ts'
import type { Inbound, Memory } from '../../../core/client-request.ts'
import { parseContext } from './parse-overflow-options.ts'
import { parseItems } from './parse-items.ts'
import { parseMemory } from './parse-storage-options.ts'
import { parseParams } from './parse-responses-parameters.ts'

export function parse(body: JsonObject, bytes = bytesOf(body)): Inbound {
  const memory = parseMemory(body)
  const items = [...leadingItems(body['instructions']), ...inputItems(body, memory)]
  return {
    dialect: 'responses',
    stream: maybe(asBoolean, body['stream'], 'stream') ?? false,
    items,
    params: parseParams(body),
    memory,
    wishes: null,
    generates: maybe(asBoolean, body['generate'], 'generate') ?? true,
    context: parseContext(body, items),
    client: PLAIN_CLIENT,
    body,
    bytes,
  }
}

/** Instructions may be a list of items, as a response object shows them. They stand in front then. */
function leadingItems(instructions: JsonObject[string]): readonly Item[] {
  return Array.isArray(instructions) ? parseItems(instructions, 'instructions') : []
}

function inputItems(body: JsonObject, memory: Memory): readonly Item[] {
  const { input } = body
  if (typeof input === 'string') {
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
  }
  if (input !== undefined && input !== null) return parseItems(input, 'input')
  const goesOn = memory.previousResponseId !== null || memory.conversationId !== null
  if (goesOn || isObject(body['prompt'])) return []
  throw wrongType(input, 'input', 'a string or an array')
}
