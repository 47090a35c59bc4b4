/**
 * Encodes a request as pieces of text that together are the body of a Responses request: the
 * leading fields, then one piece per item. The simulated provider compares these pieces with those
 * of the previous request, because a provider's cache has only the text that both have in common at
 * their start.
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

/**
 * Returns a function that encodes an item as JSON with a comma, e.g. `{"type":"message",…},`. The
 * function returns `''` for an item that would not be sent to the provider.
 */
export function createItemEncoder(): (item: Item) => string {
  return cachePerObject((item: Item) => {
    const { input } = encodeRequestBody([item])
    return (input as readonly JsonObject[]).map((entry) => `${JSON.stringify(entry)},`).join('')
  })
}

/** Encodes the fields of a request before its items, e.g. `{"model":"simulated"}`. */
export function encodeLeadingFields(): string {
  const { input: _input, stream: _stream, store: _store, ...fields } = encodeRequestBody([])
  return JSON.stringify(fields)
}

/** Returns the body that the gateway would send to the Responses API for these items. */
export function encodeRequestBody(items: readonly Item[]): JsonObject {
  const { body } = openaiResponses.encode(
    { items, params: SIMULATED_PARAMETERS, stream: false, source: SOURCE },
    ACCOUNT,
  )
  return body
}

/** Simulated account that accepts both encrypted reasoning and reasoning as plain text. */
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

/** The origin of all simulated answers, i.e. the API, account and model that generated them. */
export const SIMULATED_ORIGIN = {
  wire: 'responses',
  account: ACCOUNT.name,
  model: SIMULATED_PARAMETERS.model,
} as const
