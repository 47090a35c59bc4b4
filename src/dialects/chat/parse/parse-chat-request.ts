/** Parses the body of `POST /chat/completions`. */
import { DEFAULT_CLIENT_TRAITS } from '../../../core/client/client-traits.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import { createLazyJsonBytes } from '../../../core/json/well-formed-json.ts'
import { asBoolean, asObject, readOptional } from '../../checks/check-json-types.ts'
import type { ClientRequest, StorageOptions } from '../../../core/client-request.ts'
import { asMetadata } from '../../checks/check-value-limits.ts'
import { parseMessages } from './parse-messages.ts'
import { parseChatParameters } from './parse-chat-parameters.ts'

export function parseChatRequest(
  body: JsonObject,
  bytes = createLazyJsonBytes(body),
): ClientRequest {
  const params = parseChatParameters(body)
  return {
    dialect: 'chat',
    stream: readOptional(asBoolean, body['stream'], 'stream') ?? false,
    items: parseMessages(body['messages']),
    params,
    storage: parseStorageOptions(body),
    policyOverrides: null,
    generatesAnswer: true,
    overflow: null,
    client: DEFAULT_CLIENT_TRAITS,
    body,
    bytes,
  }
}

function parseStorageOptions(body: JsonObject): StorageOptions {
  const store = readOptional(asBoolean, body['store'], 'store')
  // OpenAI's limits for metadata are checked only if the answer is stored. Otherwise only the
  // upstream uses the metadata, and checks it itself.
  const reader = store === true ? asMetadata : asObject
  return {
    store,
    storeByDefault: false,
    previousResponseId: null,
    conversationId: null,
    background: false,
    metadata: readOptional(reader, body['metadata'], 'metadata') ?? {},
  }
}
