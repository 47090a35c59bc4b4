/**
 * Encodes a request as text pieces, as the Responses wire does: the leading fields, then one piece per
 * item. The simulated provider compares these pieces to simulate its cache and its check of reasoning
 * prefixes.
 *
 * Each item is encoded once, however many requests contain it.
 */
import type { Item } from '../core/item.ts'
import type { JsonObject } from '../core/json/json.ts'
import { cachePerObject } from '../core/caching/cache-per-object.ts'
import type { PromptSource } from '../core/prompt.ts'
import { parseResponsesParameters } from '../dialects/responses/parse/parse-responses-parameters.ts'
import { openaiResponses } from '../providers/openai-responses/openai-responses.ts'
import type { Account } from '../providers/provider-interface.ts'

/** Returns an encoder of items as JSON with a comma; items that are not sent become `''`. */
export function createItemEncoder(): (item: Item) => string {
  return cachePerObject((item: Item) => {
    const { input } = encodeRequestBody([item])
    return (input as readonly JsonObject[]).map((entry) => `${JSON.stringify(entry)},`).join('')
  })
}

/** Encodes the fields before the items. */
export function encodeLeadingFields(): string {
  const { input: _input, stream: _stream, store: _store, ...fields } = encodeRequestBody([])
  return JSON.stringify(fields)
}

/** Returns the body that the Responses wire would send. */
export function encodeRequestBody(items: readonly Item[]): JsonObject {
  const { body } = openaiResponses.encode(
    { items, params: SIMULATED_PARAMETERS, stream: false, source: SOURCE },
    ACCOUNT,
  )
  return body
}

/** Accepts reasoning as plain text and encrypted. */
const ACCOUNT: Account = {
  name: 'simulated',
  wire: 'responses',
  baseUrl: '',
  apiKey: null,
  models: ['*'],
  headers: {},
  quirks: { rawReasoning: true },
}

export const SIMULATED_PARAMETERS = parseResponsesParameters({ model: 'simulated' })

const SOURCE: PromptSource = {
  dialect: 'responses',
  body: {},
  bytes: () => new Uint8Array(),
  items: [],
  params: SIMULATED_PARAMETERS,
}

/** Origin of all simulated answers. */
export const SIMULATED_ORIGIN = {
  wire: 'responses',
  account: ACCOUNT.name,
  model: SIMULATED_PARAMETERS.model,
} as const
