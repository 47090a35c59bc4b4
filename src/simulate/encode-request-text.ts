/**
 * What a provider reads of a request, in pieces: the fields in front and then one piece for each
 * item, as the encoder of the Responses wire writes it. A cache finds the beginning of such a text
 * again, and a check of prefixes compares it.
 *
 * Each item is encoded once, however many requests it is part of.
 */
import type { Item } from '../core/item.ts'
import type { JsonObject } from '../core/json/json.ts'
import { cachePerObject } from '../core/caching/cache-per-object.ts'
import type { PromptSource } from '../core/prompt.ts'
import { parseResponsesParameters } from '../dialects/responses/parse/parse-responses-parameters.ts'
import { openaiResponses } from '../providers/openai-responses/openai-responses.ts'
import type { Account } from '../providers/provider-interface.ts'

/** The text of an item, with the comma behind it; nothing for one that is not sent. */
export function createItemEncoder(): (item: Item) => string {
  return cachePerObject(encoded)
}

function encoded(item: Item): string {
  const { input } = encodeRequestBody([item])
  return (input as readonly JsonObject[]).map((each) => `${JSON.stringify(each)},`).join('')
}

/** What stands in front of all items. */
export function encodeLeadingFields(): string {
  const { input: _input, stream: _stream, store: _store, ...fields } = encodeRequestBody([])
  return JSON.stringify(fields)
}

/** The body that the wire would send. */
export function encodeRequestBody(items: readonly Item[]): JsonObject {
  const { body } = openaiResponses.encode(
    { items, params: SIMULATED_PARAMETERS, stream: false, source: SOURCE },
    ACCOUNT,
  )
  return body
}

/** Reads its reasoning in whichever form it is. */
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

/** Who makes what is answered, and reads it again. */
export const SIMULATED_ORIGIN = {
  wire: 'responses',
  account: ACCOUNT.name,
  model: SIMULATED_PARAMETERS.model,
} as const
