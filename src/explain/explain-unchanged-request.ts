/**
 * A request that goes on as its client wrote it needs no telling: all that it says was sent. Behind its
 * answer nothing is made of it but a copy of its bytes, and what became of its items is read from those
 * when somebody asks.
 */
import type { ClientRequest } from '../core/client-request.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import type { Item } from '../core/item.ts'
import { tryParseJsonObject, type JsonObject } from '../core/json/json.ts'
import { estimateTokens } from '../core/text/estimate-tokens.ts'
import { DIALECTS } from '../dialects/dialect-registry.ts'
import type { PreparedRequest } from '../gateway/prompt/planned-request.ts'
import { buildExplanation, type Explanation, type RequestFacts } from './build-explanation.ts'

/** Whether there is nothing to be said of any item but that it was sent. */
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
    !items.some(hasField)
  )
}

/** It has told the gateway more than its upstream. */
function hasField({ native }: Item): boolean {
  return native?.['backstory'] !== undefined
}

/** `null` if it cannot be read. */
export function explainUnchangedRequest(facts: RequestFacts, text: string): Explanation | null {
  const body = tryParseJsonObject(text.replace(BYTE_ORDER_MARK, ''))
  const clientRequest = body === null ? null : understood(facts.api, body)
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
    said: params,
    bytes: Buffer.byteLength(text),
    estimate: estimateTokens(body),
  })
}

/** As it was then. Whoever reads it now may be stricter than who took it. */
function understood(api: RequestFacts['api'], body: JsonObject): ClientRequest | null {
  try {
    return DIALECTS[api].parse(body)
  } catch (error) {
    if (error instanceof GatewayError) return null
    throw error
  }
}

/** Some clients begin with one. It is sent on, and is no part of the JSON. */
const BYTE_ORDER_MARK = /^\ufeff/
