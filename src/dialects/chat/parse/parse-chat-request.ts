/** A request to /chat/completions, understood. */
import { PLAIN_CLIENT } from '../../../core/client/client-traits.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import { bytesOf } from '../../../core/json/well-formed-json.ts'
import { asBoolean, asObject, maybe } from '../../checks/check-json-types.ts'
import type { Inbound, Memory } from '../../../core/client-request.ts'
import { asMetadata } from '../../checks/check-value-limits.ts'
import { parseMessages } from './parse-messages.ts'
import { parseParams } from './parse-chat-parameters.ts'

export function parseChat(body: JsonObject, bytes = bytesOf(body)): Inbound {
  const params = parseParams(body)
  return {
    dialect: 'chat',
    stream: maybe(asBoolean, body['stream'], 'stream') ?? false,
    items: parseMessages(body['messages']),
    params,
    memory: parseMemory(body),
    wishes: null,
    generates: true,
    context: null,
    client: PLAIN_CLIENT,
    body,
    bytes,
  }
}

function parseMemory(body: JsonObject): Memory {
  const store = maybe(asBoolean, body['store'], 'store')
  // Without `store` they are labels for the upstream, whose limits are its own.
  const asLabels = store === true ? asMetadata : asObject
  return {
    store,
    storeByDefault: false,
    previousResponseId: null,
    conversationId: null,
    background: false,
    metadata: maybe(asLabels, body['metadata'], 'metadata') ?? {},
  }
}
