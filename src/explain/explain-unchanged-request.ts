/**
 * Explains requests that were forwarded exactly as the client wrote them. For such a request only the
 * body is stored, and its explanation is built from the body when it is requested.
 */
import type { ClientRequest } from '../core/client-request.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import type { Item } from '../core/item.ts'
import { tryParseJsonObject, type JsonObject } from '../core/json/json.ts'
import { estimateTokens } from '../core/text/estimate-tokens.ts'
import { DIALECTS } from '../dialects/dialect-registry.ts'
import type { PreparedRequest } from '../gateway/prompt/planned-request.ts'
import { buildExplanation, type Explanation, type RequestFacts } from './build-explanation.ts'

/** True if every item was sent unchanged and no note concerns an item. */
export function isUnchangedRequest(prepared: PreparedRequest): boolean {
  const { clientRequest, items, prompt, encoded, notes } = prepared
  return (
    encoded.bytes !== undefined &&
    items === clientRequest.items &&
    items === prompt.items &&
    clientRequest.originalItems === undefined &&
    notes.every(
      ({ at, field, did }) => (at === undefined && did !== 'added') || field !== undefined,
    ) &&
    !items.some(hasGatewayFields)
  )
}

/** True if the client set gateway fields on the item. */
function hasGatewayFields({ native }: Item): boolean {
  return native?.['backstory'] !== undefined
}

/** Builds the explanation from the stored body (`text`); null if the body cannot be parsed. */
export function explainUnchangedRequest(facts: RequestFacts, text: string): Explanation | null {
  const body = tryParseJsonObject(text.replace(BYTE_ORDER_MARK, ''))
  const clientRequest = body === null ? null : parseBody(facts.api, body)
  if (body === null || clientRequest === null) return null
  const { items, params } = clientRequest
  return buildExplanation(facts, {
    items,
    remembered: 0,
    asked: items.length,
    given: items.length,
    sent: items,
    places: [...items.keys()],
    params,
    clientParams: params,
    bytes: Buffer.byteLength(text),
    estimate: estimateTokens(body),
  })
}

/**
 * Parses a stored body; null if it is invalid. An older version of the gateway may have accepted a
 * body that this version rejects.
 */
function parseBody(api: RequestFacts['api'], body: JsonObject): ClientRequest | null {
  try {
    return DIALECTS[api].parse(body)
  } catch (error) {
    if (error instanceof GatewayError) return null
    throw error
  }
}

/** Matches U+FEFF, which some clients send before the JSON, and which is forwarded with it. */
const BYTE_ORDER_MARK = /^\ufeff/
