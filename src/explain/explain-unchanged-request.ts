/**
 * Explains requests that were forwarded with the client's own bytes. Only the body of such a request and a
 * few facts are stored. The rest of the explanation is derived from the body when a user requests it.
 */
import type { ClientRequest } from '../core/client-request.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import type { Item } from '../core/item.ts'
import { tryParseJsonObject, type JsonObject } from '../core/json/json.ts'
import { estimateTokens } from '../core/text/estimate-tokens.ts'
import { DIALECTS } from '../dialects/dialect-registry.ts'
import type { PreparedRequest } from '../gateway/prompt/planned-request.ts'
import { buildExplanation, type Explanation, type RequestMetadata } from './build-explanation.ts'

/**
 * True if the explanation can be derived from the stored body: the client's bytes were forwarded without
 * history, no note is about an item, and no item has gateway fields.
 */
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

/** True if the client set the field `backstory` on the item, e.g. to pin it. */
function hasGatewayFields({ native }: Item): boolean {
  return native?.['backstory'] !== undefined
}

/**
 * Builds the explanation from the stored facts and the stored body `text`; null if the body cannot be
 * parsed.
 */
export function explainUnchangedRequest(facts: RequestMetadata, text: string): Explanation | null {
  const body = tryParseJsonObject(text.replace(BYTE_ORDER_MARK, ''))
  const clientRequest = body === null ? null : parseBody(facts.api, body)
  if (body === null || clientRequest === null) return null
  const { items, params } = clientRequest
  return buildExplanation(facts, {
    items,
    historyCount: 0,
    requestCount: items.length,
    clientItemCount: items.length,
    sentItems: items,
    originalPositions: [...items.keys()],
    sentParams: params,
    clientParams: params,
    bodyBytes: Buffer.byteLength(text),
    estimatedTokens: estimateTokens(body),
  })
}

/**
 * Parses a stored body. Returns null if it is invalid, which is possible because an older version of the
 * gateway may have accepted it.
 */
function parseBody(api: RequestMetadata['api'], body: JsonObject): ClientRequest | null {
  try {
    return DIALECTS[api].parse(body)
  } catch (error) {
    if (error instanceof GatewayError) return null
    throw error
  }
}

/** Matches U+FEFF at the start of a body. Some clients send it before the JSON, and it is forwarded. */
const BYTE_ORDER_MARK = /^\ufeff/
